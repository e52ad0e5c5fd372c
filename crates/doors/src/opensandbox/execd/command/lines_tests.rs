use super::*;

fn told(pieces: &[&[u8]]) -> Vec<String> {
    let mut lines = Lines::default();
    let mut told = Vec::new();
    for piece in pieces {
        lines.add(piece, |line| told.push(line.to_owned()));
    }
    lines.finish(|line| told.push(line.to_owned()));
    told
}

#[test]
fn each_line_is_one_and_empty_ones_are_told() {
    assert_eq!(told(&[b"a\n\nb\n\n\nc\n"]), ["a", "\n", "b", "\n", "\n", "c"]);
    assert_eq!(told(&[b"a", b"b\nc"]), ["ab", "c"]);
    assert_eq!(told(&[b"a\r\n\r\n", b"x\ry\n"]), ["a", "\n", "x\ry"]);
    assert!(told(&[b""]).is_empty());
}

#[test]
fn letters_survive_being_cut() {
    assert_eq!(told(&[&"é".as_bytes()[..1], &"é".as_bytes()[1..], b"\n"]), ["é"]);
    let long = format!("{}é", "x".repeat(LONGEST - 1));
    let (first, second) = long.as_bytes().split_at(LONGEST);
    assert_eq!(told(&[first, second]).concat(), long);
    assert_eq!(told(&[b"\xff\n"]), ["\u{fffd}"]);
}
