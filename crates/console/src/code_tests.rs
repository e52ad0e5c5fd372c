//! Colours never change the text, text never becomes markup, and no text takes long.

use super::*;

fn pieces(text: &str) -> Vec<(&'static str, &str)> {
    coloured(text, &|| true).unwrap()
}

fn code(language: &str, text: &str) -> String {
    Ink(Cell::new(Duration::from_secs(60))).code(language, text).into_string()
}

#[test]
fn the_text_stays_what_it_is() {
    for text in [
        "",
        "import numpy as np\nprint(f\"{np.pi:.2f}\")  # ü\n",
        "def f(:\n  ((((",
        "x = '\u{1f980}' if True else None",
        "\r\n\t\0",
        "# a\rb\r\nc\r",
        &"(".repeat(10_000),
    ] {
        let whole: String = pieces(text).into_iter().map(|(_, piece)| piece).collect();
        assert_eq!(whole, text);
    }
}

#[test]
fn words_have_their_colours() {
    let text = "class K: pass\ndef f(x):\n    return a.b(print(1, 'a'), y.z) # c";
    let pieces = pieces(text);
    for piece in [
        ("c-keyword", "class"),
        ("c-name", "K"),
        ("c-keyword", "def"),
        ("c-name", "f"),
        ("c-keyword", "return"),
        ("c-name", "b"),
        ("c-name", "print"),
        ("c-number", "1"),
        ("c-comment", "# c"),
    ] {
        assert!(pieces.contains(&piece), "{piece:?} in {pieces:?}");
    }
    for name in ["x", "a", "y", "z"] {
        assert!(!pieces.contains(&("c-name", name)), "{name} in {pieces:?}");
    }
}

#[test]
fn hostile_code_is_shown_as_text() {
    for language in ["python", "bash", "<b>"] {
        let shown = code(language, "print('<script>alert(1)</script>') # </code></pre><img src=x>");
        assert!(!shown.contains("<script") && !shown.contains("<img"), "{shown}");
    }
}

#[test]
fn what_runs_is_not_shown_as_a_comment() {
    let shown = code("python", "# harmless\rimport os");
    assert!(shown.contains("<span class=\"c-keyword\">import</span>"), "{shown}");
    assert!(shown.contains("⟨U+000D⟩</mark>\n"), "{shown}");
    let turned = code("python", "#\u{202e} ;metsys.so");
    assert!(turned.contains("⟨U+202E⟩") && !turned.contains('\u{202e}'), "{turned}");
    let other = code("bash", "echo \u{2066}hi # \r rm");
    assert!(other.contains("⟨U+2066⟩") && other.contains("⟨U+000D⟩") && !other.contains('\r'), "{other}");
}

#[test]
fn long_code_is_plain() {
    let ink = Ink(Cell::new(LONGEST_IN_ALL));
    assert!(ink.coloured(&"x = 1\n".repeat(20_000)).is_none());
}

/// Looks at the clock are counted, not time: what is nested deep costs no more than what stands side by side.
#[test]
fn nested_calls_cost_no_more_than_others() {
    let looks = |text: &str| {
        let count = Cell::new(0_usize);
        let began = Instant::now();
        coloured(text, &|| {
            count.set(count.get() + 1);
            began.elapsed() < Duration::from_secs(10)
        })
        .map(|_| count.get())
    };
    let (deep, flat) = (format!("{}1{}", "a(".repeat(20_000), ")".repeat(20_000)), "a(1)\n".repeat(12_000));
    let (deep, flat) = (looks(&deep).expect("it takes no ten seconds"), looks(&flat).unwrap());
    assert!(deep < 10 * flat, "{deep} and {flat}");
}

#[test]
fn a_page_has_time_for_so_much_colour_and_no_more() {
    let ink = Ink(Cell::new(Duration::ZERO));
    let shown = ink.code("python", "import os").into_string();
    assert!(shown.contains("import os") && !shown.contains("span"), "{shown}");
    let ink = Ink(Cell::new(LONGEST_IN_ALL));
    ink.code("python", &"f(1)\n".repeat(1000));
    assert!(ink.0.get() < LONGEST_IN_ALL);
}
