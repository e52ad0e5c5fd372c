//! Any cut of any arguments gives the same code.

use proptest::prelude::*;
use serde_json::json;

use super::{BadArguments, CodeReader, whole_code};

fn read_in_pieces(arguments: &str, size: usize) -> String {
    let mut reader = CodeReader::new();
    let characters: Vec<char> = arguments.chars().collect();
    let mut code = String::new();
    for piece in characters.chunks(size) {
        code.push_str(&reader.read(&piece.iter().collect::<String>()));
    }
    assert_eq!(code, reader.given());
    code
}

#[test]
fn gives_code_as_it_comes() {
    let mut reader = CodeReader::new();
    assert_eq!(reader.read("{\"co"), "");
    assert_eq!(reader.read("de\":\"pri"), "pri");
    assert_eq!(reader.read("nt(1)\\"), "nt(1)");
    assert_eq!(reader.read("n\\u00e"), "\n");
    assert_eq!(reader.read("9\\ud83d"), "é");
    assert_eq!(reader.read("\\ude00\"}"), "😀");
}

#[test]
fn skips_what_is_not_code() {
    let arguments = r#" { "a" : {"code":"no","x":[1,"]}",{"code":"no"}]} , "b":"code", "n": 1.5, "t":true,
        "code" : "yes", "z": null }"#;
    for size in 1..20 {
        assert_eq!(read_in_pieces(arguments, size), "yes");
    }
}

#[test]
fn text_that_is_no_object_gives_nothing() {
    for text in ["print(1)", "[\"code\"]", "\"code\"", "{\"code\": 5}", "{\"code\":[\"a\"]}", ""] {
        assert_eq!(read_in_pieces(text, 3), "", "{text}");
    }
}

#[test]
fn whole_arguments_decide() {
    let reader = CodeReader::new();
    assert_eq!(whole_code("{\"code\":\"1+1\"}", &reader), Ok("1+1".to_owned()));
    assert_eq!(whole_code("{\"x\":1}", &reader), Err(BadArguments::NoCode));
    assert!(matches!(whole_code("{\"code\":\"1+", &reader), Err(BadArguments::NotJson(_))));
    let mut shown = CodeReader::new();
    shown.read("{\"code\":\"a\",\"code\":\"b\"}");
    assert_eq!(whole_code("{\"code\":\"a\",\"code\":\"b\"}", &shown), Ok("a".to_owned()));
}

proptest! {
    #[test]
    fn any_code_survives_any_cut(code in ".*", other in ".*", size in 1usize..9, escaped: bool) {
        let mut arguments = json!({"other": other, "list": [other, {"code": other}], "code": code}).to_string();
        if escaped {
            // As Python's json.dumps writes it.
            arguments = arguments.chars().map(|c| if c.is_ascii() { c.to_string() } else {
                let mut units = [0u16; 2];
                c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }).collect();
        }
        prop_assert_eq!(read_in_pieces(&arguments, size), code);
    }

    #[test]
    fn nothing_makes_it_panic(text in ".*", size in 1usize..9) {
        read_in_pieces(&text, size);
    }
}
