//! Text survives any cut; the limit keeps whole characters and counts the rest.

use proptest::prelude::*;

use super::{OutputMeter, TextDecoder};

#[test]
fn a_character_cut_in_two_comes_out_whole() {
    let mut decoder = TextDecoder::default();
    let bytes = "aé😀".as_bytes();
    let text: String = bytes.iter().map(|byte| decoder.push(&[*byte])).collect();
    assert_eq!(text + &decoder.finish(), "aé😀");
}

#[test]
fn bytes_that_are_not_text_are_marked_not_lost() {
    let mut decoder = TextDecoder::default();
    assert_eq!(decoder.push(b"a\xffb\xe2\x82"), "a\u{fffd}b");
    assert_eq!(decoder.finish(), "\u{fffd}");
}

#[test]
fn output_past_the_limit_is_dropped_and_counted() {
    let mut meter = OutputMeter::new(5);
    assert_eq!(meter.keep_text("abcé".into()), "abcé");
    assert_eq!(meter.keep_text("xyz".into()), "");
    assert!(meter.trimmed().unwrap().contains("3 bytes after"));
    assert!(!meter.hopeless());
    meter.keep_text("x".repeat(100));
    assert!(meter.hopeless());
}

#[test]
fn rich_values_weigh_what_they_hold() {
    let bundle =
        |value: serde_json::Value| serde_json::Map::from_iter([("application/json".to_owned(), value)]);
    let mut meter = OutputMeter::new(1000);
    assert!(meter.keep_bundle(bundle(serde_json::json!([1, 2, 3])), 0).is_some());
    assert!(meter.keep_bundle(bundle(vec![0; 1000].into()), 0).is_none());
    assert!(meter.trimmed().is_some());
}

#[test]
fn empty_things_are_not_free() {
    let mut meter = OutputMeter::new(100);
    assert!(meter.keep_lines(vec![String::new(); 1000]).len() <= 100);
    let mut meter = OutputMeter::new(100);
    let kept = (0..1000).filter(|_| meter.keep_bundle(serde_json::Map::new(), 0).is_some()).count();
    assert!(kept <= 100 && !meter.hopeless());
}

proptest! {
    #[test]
    fn any_cut_of_any_text_is_lossless(text in ".*", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut decoder = TextDecoder::default();
        let whole: String = cuts.windows(2).map(|pair| decoder.push(&bytes[pair[0]..pair[1]])).collect();
        prop_assert_eq!(whole + &decoder.finish(), text);
    }
}
