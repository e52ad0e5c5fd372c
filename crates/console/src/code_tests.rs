//! Colours never change the text, and text never becomes markup.

use super::*;

fn whole(text: &str) -> String {
    coloured(text).unwrap().into_iter().map(|(_, piece)| piece).collect()
}

#[test]
fn the_text_stays_what_it_is() {
    for text in [
        "",
        "import numpy as np\nprint(f\"{np.pi:.2f}\")  # ü\n",
        "def f(:\n  ((((",
        "x = '\u{1f980}' if True else None",
        "\r\n\t\0",
        &"(".repeat(10_000),
    ] {
        assert_eq!(whole(text), text);
    }
}

#[test]
fn words_have_their_colours() {
    let pieces = coloured("def f(x):\n    return print(1, 'a') # c").unwrap();
    for piece in [
        ("c-keyword", "def"),
        ("c-name", "f"),
        ("c-keyword", "return"),
        ("c-name", "print"),
        ("c-number", "1"),
        ("c-comment", "# c"),
    ] {
        assert!(pieces.contains(&piece), "{piece:?} in {pieces:?}");
    }
}

#[test]
fn hostile_code_is_shown_as_text() {
    for language in ["python", "bash", "<b>"] {
        let shown =
            code(language, "print('<script>alert(1)</script>') # </code></pre><img src=x>").into_string();
        assert!(!shown.contains("<script") && !shown.contains("<img"), "{shown}");
    }
}

#[test]
fn long_code_is_plain() {
    assert!(coloured(&"x = 1\n".repeat(20_000)).is_none());
}
