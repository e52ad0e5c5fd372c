//! Whatever a program prints, the page gets letters and colours, and each row once.

use serde_json::{Value, json};

use super::*;

fn sent(screen: &mut Screen) -> Value {
    serde_json::to_value(screen.update()).unwrap()
}

#[test]
fn only_rows_that_changed_are_sent() {
    let mut screen = Screen::new(20, 5);
    assert_eq!(sent(&mut screen)["rows"].as_array().unwrap().len(), 5);
    screen.feed(b"one\r\ntwo");
    let update = sent(&mut screen);
    assert_eq!(update["rows"], json!([[0, [["one", null, null, 0]]], [1, [["two", null, null, 0]]]]));
    assert_eq!(update["cursor"], json!([1, 3]));
    assert_eq!(screen.update(), None);
    screen.feed(b"\x1b[1;1H");
    let update = sent(&mut screen);
    assert_eq!((&update["rows"], &update["cursor"]), (&json!([]), &json!([0, 0])));
    screen.feed(b"O");
    assert_eq!(sent(&mut screen)["rows"], json!([[0, [["One", null, null, 0]]]]));
}

#[test]
fn another_page_gets_all_of_it() {
    let mut screen = Screen::new(20, 5);
    screen.feed(b"one\r\ntwo");
    let first = screen.update().unwrap();
    assert_eq!(screen.update(), None);
    screen.forget();
    assert_eq!(screen.update(), Some(first));
}

#[test]
fn a_row_that_becomes_empty_is_sent_too() {
    let mut screen = Screen::new(20, 5);
    screen.feed(b"text");
    screen.update();
    screen.feed(b"\x1b[2J\x1b[H");
    assert_eq!(sent(&mut screen)["rows"], json!([[0, []]]));
}

#[test]
fn colours_and_marks_come_as_numbers() {
    let mut screen = Screen::new(40, 5);
    screen.feed(b"a\x1b[1;31mb\x1b[0;38;5;200mc\x1b[0;48;2;1;2;255md\x1b[0;7me");
    let update = sent(&mut screen);
    let row = json!([
        ["a", null, null, 0],
        ["b", 1, null, 1],
        ["c", 200, null, 0],
        ["d", null, "#0102ff", 0],
        ["e", null, null, 16]
    ]);
    assert_eq!(update["rows"][0], json!([0, row]));
}

#[test]
fn wide_letters_take_their_place_once() {
    let mut screen = Screen::new(20, 5);
    screen.feed("日本x".as_bytes());
    let update = sent(&mut screen);
    assert_eq!(update["rows"][0][1][0][0], "日本x");
    assert_eq!(update["cursor"], json!([0, 5]));
}

#[test]
fn titles_links_and_the_clipboard_are_nobodys_business() {
    let mut screen = Screen::new(60, 5);
    screen.feed(
        b"\x1b]0;evil title\x07\x1b]52;c;ZXZpbA==\x07\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\",
    );
    screen.feed(b"\x1bP+q544e\x1b\\\x1b_Gf=24;AAAA\x1b\\\x1b[5n\x1b[c<b>");
    let update = sent(&mut screen);
    assert_eq!(update["rows"][0], json!([0, [["click<b>", null, null, 0]]]));
    let text = update.to_string();
    assert!(!text.contains("evil") && !text.contains("javascript") && !text.contains("\\u001b"), "{text}");
}

#[test]
fn what_scrolled_off_can_be_looked_at() {
    let mut screen = Screen::new(20, 5);
    for line in 0..2000 {
        screen.feed(format!("{line}\r\n").as_bytes());
    }
    screen.update();
    screen.look_back(usize::MAX);
    let update = sent(&mut screen);
    assert_eq!(update["back"], 1000);
    assert_eq!(update["cursor"], Value::Null);
    assert_eq!(update["rows"][0], json!([0, [["996", null, null, 0]]]));
    screen.look_back(0);
    assert_eq!(sent(&mut screen)["back"], 0);
}

#[test]
fn sizes_stay_within_bounds() {
    let mut screen = Screen::new(0, 0);
    assert_eq!(screen.resize(0, u16::MAX), (20, 100));
    assert_eq!(screen.resize(u16::MAX, 0), (300, 5));
}

/// A stream of bytes that looks like a hostile program's, the same on every run.
#[test]
fn noise_and_resizing_do_no_harm() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let words: [&[u8]; 14] = [
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b";",
        b"999999",
        b"H",
        b"r",
        b"L",
        b"M",
        b"@",
        b"P",
        "日".as_bytes(),
        b"\x1b[?1049h",
        b"\x1b[?1049l",
    ];
    let mut screen = Screen::new(80, 24);
    for _ in 0..60_000 {
        match next(10) {
            0..6 => screen.feed(words[usize::try_from(next(14)).unwrap()]),
            6..9 => screen.feed(&[u8::try_from(next(256)).unwrap()]),
            _ if next(20) == 0 => {
                let size = |most| u16::try_from(most).unwrap();
                screen.resize(size(next(310)), size(next(110)));
                screen.look_back(usize::try_from(next(1200)).unwrap());
                screen.update();
            }
            _ => {}
        }
    }
    assert!(screen.known.len() <= 100);
}
