//! What code inside tells beside its output, read out of pieces of any size.

use std::process::Command;

use super::*;

fn channel() -> Channel {
    Channel { token: "abc".to_owned(), folder: "/tmp/.sandgate-abc".to_owned() }
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

#[test]
fn what_is_told_is_taken_out_of_text_however_it_is_cut() {
    let whole = "before\u{1e}abcdieyJhIjoxfQ==\u{1e}after \u{1e}other";
    let expected = Part::Told { kind: Kind::Display, content: Content::Inline(b"{\"a\":1}".to_vec()) };
    for size in 1..whole.len() {
        let mut reader = channel().reader();
        let mut parts = Vec::new();
        let mut rest = whole;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(size.min(rest.len())).max(1));
            parts.extend(reader.read(piece));
            rest = after;
        }
        parts.extend(reader.finish().map(Part::Text));
        let mut said = String::new();
        let mut told = 0;
        for part in parts {
            match part {
                Part::Text(piece) => said.push_str(&piece),
                other @ Part::Told { .. } => {
                    assert_eq!(said, "before");
                    assert_eq!(other, expected);
                    told += 1;
                }
            }
        }
        assert_eq!((said.as_str(), told), ("beforeafter \u{1e}other", 1), "in pieces of {size}");
    }
}

#[test]
fn what_only_looks_like_it_stays_text() {
    let mut reader = channel().reader();
    let odd = ["\u{1e}abcxx\u{1e}", "\u{1e}abcvi***\u{1e}", "\u{1e}abcvf/etc/passwd\u{1e}"];
    for line in odd {
        assert_eq!(reader.read(line), [text(line)]);
    }
    let escape = "\u{1e}abcvf/tmp/.sandgate-abc/../x\u{1e}";
    assert_eq!(reader.read(escape), [text(escape)]);
    let file = "\u{1e}abcvf/tmp/.sandgate-abc/tmp_1a\u{1e}";
    let expected = Content::File("/tmp/.sandgate-abc/tmp_1a".to_owned());
    assert_eq!(reader.read(file), [Part::Told { kind: Kind::Value, content: expected }]);
}

#[test]
fn nothing_is_held_back_for_ever() {
    let mut reader = channel().reader();
    let flood = format!("\u{1e}abc{}", "x".repeat(MOST_INLINE + 1));
    let said: usize =
        reader.read(&flood).iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum();
    assert_eq!(said, flood.len());
}

#[test]
fn a_text_of_any_kind_is_a_string_of_python() {
    let odd = "a\"b\\c\nd\te\u{0}\u{2028}𝄞 {}'";
    let script = format!("import sys\nsys.stdout.buffer.write({}.encode())", quoted(odd));
    let output = Command::new("python3").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), odd);
}

/// The setup in a Python that only executes, as Daytona's does.
fn in_plain_python(cells: &[&str]) -> Vec<Part> {
    let channel = Channel::new();
    let mut script = format!(
        "scope = {{'__name__': '__main__'}}\nexec({}, scope)\n",
        quoted(&channel.setup(Interpreter::Plain))
    );
    for cell in cells {
        script.push_str(&format!("exec({}, scope)\n", quoted(&wrapped(cell))));
    }
    let output = Command::new("python3").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let parts = channel.reader().read(&said);
    let _ = std::fs::remove_dir_all(&channel.folder);
    parts
}

/// The setup in an interpreter of a notebook, of which there is no more than what the setup touches.
fn in_a_notebook(cells: &str) -> Vec<Part> {
    let channel = Channel::new();
    let shell = "class Publisher: pass\nclass Shell: display_pub = Publisher()\nshell = Shell()\n";
    let setup = quoted(&channel.setup(Interpreter::IPython));
    let script = format!(
        "{shell}scope = {{'get_ipython': lambda: shell}}\nexec({setup}, scope)\n\
         assert list(scope) == ['get_ipython', '__builtins__'], scope\nexec({}, scope)\n",
        quoted(cells)
    );
    let output = Command::new("python3").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    channel.reader().read(&String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_notebook_tells_its_displays_whatever_code_calls_its_own() {
    let parts = in_a_notebook(
        "exec = dict = None\nshow = get_ipython().display_pub.publish\n\
         show({'image/png': b'\\x00\\x01'}, metadata={}, transient={}, update=False)\n\
         show(data={'text/plain': 'two'})",
    );
    let shown: Vec<_> = parts.iter().map(the_told).collect();
    let bundle = |value: serde_json::Value| Meant::Bundle(value.as_object().unwrap().clone());
    let wanted = [serde_json::json!({"image/png": "AAE="}), serde_json::json!({"text/plain": "two"})];
    assert_eq!(shown, wanted.map(|value| (Kind::Display, bundle(value))));
}

fn the_told(part: &Part) -> (Kind, Meant) {
    match part {
        Part::Told { kind, content: Content::Inline(bytes) } => (*kind, meant(*kind, bytes).unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_interpreter_that_only_executes_tells_values_and_keeps_its_state() {
    let parts = in_plain_python(&["x = 41\nprint('hello')", "x + 1", "x;"]);
    assert_eq!(parts.len(), 2, "{parts:?}");
    assert_eq!(parts[0], text("hello\n"));
    let (kind, Meant::Bundle(data)) = the_told(&parts[1]) else { panic!() };
    assert_eq!((kind, &data["text/plain"]), (Kind::Value, &serde_json::json!("42")));
}

#[test]
fn its_errors_show_the_code_alone() {
    let parts = in_plain_python(&["def f():\n    return 1 / 0\nf()"]);
    let (Kind::Error, Meant::Error(error)) = the_told(&parts[0]) else { panic!("{parts:?}") };
    assert_eq!((error.name.as_str(), error.value.as_str()), ("ZeroDivisionError", "division by zero"));
    let shown = error.traceback.join("\n");
    assert!(shown.contains("<cell 1>") && shown.contains("return 1 / 0"), "{shown}");
    assert!(!shown.contains("_sandgate"), "{shown}");
}

#[test]
fn what_has_a_richer_form_is_told_in_all_of_them() {
    let cell = "class T:\n    def _repr_html_(self): return '<b>x</b>'\n    def __repr__(self): return 'T'\ndisplay(T())";
    let parts = in_plain_python(&[cell]);
    let (Kind::Display, Meant::Bundle(data)) = the_told(&parts[0]) else { panic!("{parts:?}") };
    assert_eq!(
        serde_json::Value::Object(data),
        serde_json::json!({"text/plain": "T", "text/html": "<b>x</b>"})
    );
}

#[test]
fn a_flood_of_marks_is_text_and_takes_no_longer_than_text() {
    let channel = Channel::with("0123456789abcdef01234567");
    let count = 4_000_000;
    for flood in ["\u{1e}".repeat(count), format!("\u{1e}{}", channel.token()).repeat(count / 25)] {
        // Quadratic work on this much would take minutes; a second is a hundred times what it takes.
        let began = std::time::Instant::now();
        let mut reader = channel.reader();
        let parts = reader.read(&flood);
        let said: String = parts
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text,
                told @ Part::Told { .. } => panic!("{told:?}"),
            })
            .chain(reader.finish())
            .collect();
        assert_eq!(said.len(), flood.len());
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
    }
}

#[test]
fn what_comes_letter_by_letter_is_the_same() {
    let channel = Channel::with("0123456789abcdef01234567");
    let told = format!("a\u{1e}{}vie30=\u{1e}b\u{1e}c", channel.token());
    let mut reader = channel.reader();
    let mut parts: Vec<Part> =
        told.chars().flat_map(|letter| reader.read(letter.encode_utf8(&mut [0; 4]))).collect();
    parts.extend(reader.finish().map(Part::Text));
    let values = parts.iter().filter(|part| matches!(part, Part::Told { .. })).count();
    let text: String = parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!((values, text.as_str()), (1, "ab\u{1e}c"));
}
