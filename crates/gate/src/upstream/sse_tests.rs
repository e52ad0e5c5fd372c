//! Server-sent events, cut anywhere.

use proptest::prelude::*;

use super::{SseError, SseEvent, SseParser};

fn event(name: &str, data: &str) -> SseEvent {
    SseEvent { name: name.to_owned(), data: data.to_owned() }
}

fn parse(pieces: &[&[u8]]) -> Result<Vec<SseEvent>, SseError> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece)?;
        events.extend(std::iter::from_fn(|| parser.next_event()));
    }
    parser.finish()?;
    Ok(events)
}

#[test]
fn an_event_has_a_name_and_data() {
    assert_eq!(parse(&[b"event: a\ndata: {\"x\": 1}\n\n"]).unwrap(), [event("a", "{\"x\": 1}")]);
}

#[test]
fn one_space_after_the_colon_is_not_part_of_the_value() {
    assert_eq!(
        parse(&[b"data:x\n\ndata:  x\n\ndata\n\n"]).unwrap(),
        [event("", "x"), event("", " x"), event("", "")]
    );
}

#[test]
fn several_data_lines_are_one_text() {
    assert_eq!(parse(&[b"data: a\ndata: b\ndata:\n\n"]).unwrap(), [event("", "a\nb\n")]);
}

#[test]
fn comments_ids_retries_and_empty_events_are_passed_over() {
    let bytes = b": hello\n\nid: 7\nretry: 10\nevent: nothing\n\n:\ndata: a\nunknown: b\n: bye\n\n";
    assert_eq!(parse(&[bytes]).unwrap(), [event("", "a")]);
}

#[test]
fn a_byte_order_mark_is_taken_off_even_when_cut() {
    assert_eq!(parse(&[b"\xef", b"\xbb", b"\xbfdata: a\n\n"]).unwrap(), [event("", "a")]);
}

#[test]
fn an_end_in_the_middle_is_told() {
    for bytes in [&b"data: a"[..], b"data: a\n", b"data: a\n\nda", b"event: a\n"] {
        assert_eq!(parse(&[bytes]), Err(SseError::Half), "{bytes:?}");
    }
    assert!(parse(&[b"data: a\n\n: half a comm"]).is_ok());
}

#[test]
fn what_is_not_utf8_is_told_and_what_came_before_is_kept() {
    let mut parser = SseParser::default();
    assert_eq!(parser.push(b"data: a\n\ndata: \xff\n\n"), Err(SseError::NotUtf8));
    assert_eq!(parser.next_event(), Some(event("", "a")));
}

#[test]
fn an_event_without_end_is_stopped_at_the_limit() {
    let mut parser = SseParser::with_limit(100);
    let mut outcome = Ok(());
    for _ in 0..200 {
        outcome = outcome.and_then(|()| parser.push(b"x"));
    }
    assert_eq!(outcome, Err(SseError::TooLong(100)));
    let mut parser = SseParser::with_limit(100);
    let outcome = (0..50).try_for_each(|_| parser.push(b"data: 12345\n"));
    assert_eq!(outcome, Err(SseError::TooLong(100)));
}

#[test]
fn many_small_events_do_not_reach_the_limit() {
    let mut parser = SseParser::with_limit(20);
    for _ in 0..1000 {
        parser.push(b"event: a\ndata: b\n\n").unwrap();
        assert!(parser.next_event().is_some());
    }
}

/// Any text of these events, with any line ends, comes out as them.
fn written(events: &[(String, Vec<String>)], ends: &[&str]) -> String {
    let mut text = String::new();
    let mut ends = ends.iter().cycle();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push_str(ends.next().unwrap());
    };
    for (name, data) in events {
        line(&format!("event: {name}"));
        for part in data {
            line(&format!("data: {part}"));
            line(": comment");
        }
        line("");
    }
    text
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn where_the_bytes_are_cut_makes_no_difference(
        events in prop::collection::vec(("[a-z.é]{0,8}", prop::collection::vec("[^\r\n]{0,20}", 1..4)), 0..8),
        // CR before an empty line's LF would be one end of line, so each text keeps to one kind or CRLF.
        ends in prop::sample::select(vec![vec!["\n"], vec!["\r"], vec!["\r\n"], vec!["\n", "\r\n"]]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let text = written(&events, &ends);
        let expected: Vec<SseEvent> =
            events.iter().map(|(name, data)| event(name, &data.join("\n"))).collect();
        prop_assert_eq!(parse(&pieces(text.as_bytes(), &cuts)).unwrap(), expected);
    }

    #[test]
    fn any_bytes_at_all_give_the_same_in_one_piece_or_in_many(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'\r'), Just(b':'), Just(b' '), Just(b'd'), any::<u8>()
        ], 0..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        prop_assert_eq!(parse(&pieces(&bytes, &cuts)), parse(&[&bytes]));
    }
}
