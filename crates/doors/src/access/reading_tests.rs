//! What two readers of JSON could understand differently.

use axum::response::IntoResponse;

use super::{read, read_model};

fn is_refused(body: &str) -> bool {
    read(body.as_bytes()).is_err_and(|error| error.into_response().status() == 400)
}

#[test]
fn a_field_that_decides_who_answers_stands_once_and_in_its_own_letters() {
    for name in ["tools", "input", "messages", "previous_response_id", "conversation"] {
        assert!(!is_refused(&format!(r#"{{"a":1,"{name}":null}}"#)), "{name}");
        assert!(is_refused(&format!(r#"{{"{name}":[],"a":1,"{name}":[]}}"#)), "{name}");
        let escaped = format!("\\u{:04x}{}", u32::from(name.as_bytes()[0]), &name[1..]);
        assert!(is_refused(&format!(r#"{{"{name}":[],"{escaped}":[]}}"#)), "{name}");
        assert!(!is_refused(&format!(r#"{{"{escaped}":[]}}"#)), "{name}");
        for other in [name.to_uppercase(), format!("{}{}", name[..1].to_uppercase(), &name[1..])] {
            assert!(is_refused(&format!(r#"{{"{other}":[]}}"#)), "{other}");
        }
    }
    for name in ["tool\u{17f}", "me\u{17f}\u{17f}ages", "previous_re\u{17f}ponse_id"] {
        assert!(is_refused(&format!(r#"{{"{name}":[]}}"#)), "{name}");
    }
    for body in
        [r#"{"b":1,"b":2}"#, r#"{"metadata":{"Tools":1,"tools":2,"tools":3}}"#, "{}", r#"{"toolsé":1}"#]
    {
        assert!(!is_refused(body), "{body}");
    }
}

#[test]
fn so_do_the_fields_that_say_what_a_tool_is() {
    let tool = |fields: &str| format!(r#"{{"tools":[{{"type":"function"}},{{{fields}}}]}}"#);
    for fields in [
        r#""type":"code_interpreter","type":"function""#,
        r#""Type":"code_interpreter""#,
        r#""type":"shell","environment":{},"environment":null"#,
        r#""type":"namespace","tools":[{"type":"a","TYPE":"b"}]"#,
    ] {
        assert!(is_refused(&tool(fields)), "{fields}");
        assert!(
            is_refused(&tool(fields).replace("tools\":[{\"type\":\"function\"}", "input\":[1")),
            "{fields}"
        );
    }
    // What a function takes is its own affair.
    let own = r#""type":"function","parameters":{"properties":{"Type":{},"type":{}},"type":1,"type":2}"#;
    assert!(!is_refused(&tool(own)));
    for input in [r#""text""#, "null", "1", "-1", "1.5", "true", r#"["a",[1],null,{"content":"b"}]"#] {
        assert!(!is_refused(&format!(r#"{{"input":{input},"tools":{input}}}"#)), "{input}");
    }
}

#[test]
fn what_is_no_object_is_no_request() {
    for body in ["", "[]", "1", "{", r#"{"a":1} {"b":2}"#, "\u{feff}{}", r#"{"a":NaN}"#, "{'a':1}"] {
        assert!(is_refused(body), "{body}");
    }
    // Some servers would read it.
    let wide: Vec<u8> = r#"{"tools":[]}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(&wide).is_err());
    let deep = format!(r#"{{"a":{}1{},"tools":[]}}"#, "[".repeat(5000), "]".repeat(5000));
    assert!(!is_refused(&deep));
    let deep = format!(r#"{{"tools":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
    assert!(is_refused(&deep));
}

#[test]
fn of_other_bodies_only_the_model_is_read() {
    let models = |body: &str| read_model(body.as_bytes()).map(|found| found.models.len()).ok();
    assert_eq!(models(r#"{"input":[],"Input":[],"model":"a","MODEL":"b"}"#), Some(2));
    assert_eq!(models("[]"), None);
}
