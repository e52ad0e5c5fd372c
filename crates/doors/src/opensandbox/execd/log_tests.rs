use super::*;

fn text(log: &Log, place: u64) -> (u64, String) {
    let (begins, pieces) = log.after(place);
    (begins, pieces.into_iter().map(|(_, piece)| String::from_utf8_lossy(piece).into_owned()).collect())
}

#[test]
fn what_comes_after_a_place_is_told_once() {
    let mut log = Log::default();
    log.add(Source::Out, b"one\n");
    log.add(Source::Err, b"two\n");
    assert_eq!(text(&log, 0), (0, "one\ntwo\n".to_owned()));
    assert_eq!(text(&log, 4), (4, "two\n".to_owned()));
    assert_eq!(text(&log, 6), (6, "o\n".to_owned()));
    assert_eq!(text(&log, log.end()), (8, String::new()));
    assert_eq!(text(&log, 99), (8, String::new()), "a place that is not there yet is the end");
    log.add(Source::Out, b"three");
    assert_eq!(text(&log, 8), (8, "three".to_owned()));
}

#[test]
fn the_first_goes_when_there_is_too_much_and_places_stay_right() {
    let mut log = Log::default();
    let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<_>>();
    for _ in 0..2048 {
        log.add(Source::Out, &line);
    }
    assert_eq!(log.end(), 2 << 20);
    let (begins, kept) = text(&log, 0);
    assert_eq!(begins + kept.len() as u64, log.end());
    assert!(kept.len() <= MOST && kept.len() > MOST / 2, "{}", kept.len());
    assert_eq!(text(&log, log.end() - 1024).1.as_bytes(), line);
}

#[test]
fn many_small_pieces_are_few() {
    let mut log = Log::default();
    for _ in 0..100_000 {
        log.add(Source::Out, b"x");
    }
    assert!(log.pieces.len() <= 25, "{}", log.pieces.len());
    for _ in 0..100_000 {
        log.add(Source::Out, b"x");
        log.add(Source::Err, b"y");
    }
    assert!(log.pieces.len() <= MOST_PIECES);
    assert_eq!(log.end(), 300_000);
}
