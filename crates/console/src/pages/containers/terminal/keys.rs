//! Keys and pasted text as a program at a terminal expects them.

use serde::Deserialize;

/// As the browser names it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Key {
    pub(super) key: String,
    pub(super) ctrl: bool,
    pub(super) alt: bool,
    pub(super) shift: bool,
}

/// None: no key that a terminal knows.
pub(super) fn bytes(key: &Key, is_application: bool) -> Option<Vec<u8>> {
    let mut letters = key.key.chars();
    let plain = match (letters.next(), letters.next()) {
        (Some(letter), None) => letter_bytes(letter, key.ctrl)?,
        _ => return named(key, is_application),
    };
    Some(if key.alt { [b"\x1b".as_slice(), &plain].concat() } else { plain })
}

fn letter_bytes(letter: char, is_ctrl: bool) -> Option<Vec<u8>> {
    if !is_ctrl {
        return (!letter.is_control()).then(|| letter.to_string().into_bytes());
    }
    let code = match letter.to_ascii_lowercase() {
        letter @ 'a'..='z' => letter as u8 - b'a' + 1,
        ' ' | '@' | '2' => 0,
        '[' | '3' => 27,
        '\\' | '4' => 28,
        ']' | '5' => 29,
        '^' | '6' => 30,
        '_' | '/' | '7' => 31,
        '8' => 127,
        _ => return None,
    };
    Some(vec![code])
}

fn named(key: &Key, is_application: bool) -> Option<Vec<u8>> {
    let alone = |bytes: &str| {
        let alt = if key.alt { "\x1b" } else { "" };
        Some(format!("{alt}{bytes}").into_bytes())
    };
    match key.key.as_str() {
        "Enter" => alone("\r"),
        "Tab" => alone("\t"),
        "Escape" => alone("\x1b"),
        "Backspace" => alone(if key.ctrl { "\x08" } else { "\x7f" }),
        "ArrowUp" => Some(cursor(key, 'A', is_application)),
        "ArrowDown" => Some(cursor(key, 'B', is_application)),
        "ArrowRight" => Some(cursor(key, 'C', is_application)),
        "ArrowLeft" => Some(cursor(key, 'D', is_application)),
        "Home" => Some(cursor(key, 'H', is_application)),
        "End" => Some(cursor(key, 'F', is_application)),
        "Insert" => Some(tilde(key, 2)),
        "Delete" => Some(tilde(key, 3)),
        "PageUp" => Some(tilde(key, 5)),
        "PageDown" => Some(tilde(key, 6)),
        "F1" => Some(cursor(key, 'P', true)),
        "F2" => Some(cursor(key, 'Q', true)),
        "F3" => Some(cursor(key, 'R', true)),
        "F4" => Some(cursor(key, 'S', true)),
        "F5" => Some(tilde(key, 15)),
        "F6" => Some(tilde(key, 17)),
        "F7" => Some(tilde(key, 18)),
        "F8" => Some(tilde(key, 19)),
        "F9" => Some(tilde(key, 20)),
        "F10" => Some(tilde(key, 21)),
        "F11" => Some(tilde(key, 23)),
        "F12" => Some(tilde(key, 24)),
        _ => None,
    }
}

/// As xterm numbers what is held with a key; 1 is nothing.
fn held(key: &Key) -> u8 {
    1 + u8::from(key.shift) + 2 * u8::from(key.alt) + 4 * u8::from(key.ctrl)
}

fn cursor(key: &Key, letter: char, is_application: bool) -> Vec<u8> {
    let text = match held(key) {
        1 if is_application => format!("\x1bO{letter}"),
        1 => format!("\x1b[{letter}"),
        held => format!("\x1b[1;{held}{letter}"),
    };
    text.into_bytes()
}

fn tilde(key: &Key, number: u8) -> Vec<u8> {
    let text = match held(key) {
        1 => format!("\x1b[{number}~"),
        held => format!("\x1b[{number};{held}~"),
    };
    text.into_bytes()
}

/// Without anything that a program would take for keys: text from elsewhere may hold more than one sees.
pub(super) fn pasted(text: &str, is_bracketed: bool) -> Vec<u8> {
    let kept = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t');
    let plain: String = text.replace("\r\n", "\r").chars().filter(kept).collect();
    let plain = plain.replace('\n', "\r");
    if is_bracketed { format!("\x1b[200~{plain}\x1b[201~").into_bytes() } else { plain.into_bytes() }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
