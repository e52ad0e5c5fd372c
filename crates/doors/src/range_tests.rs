use axum::http::HeaderValue;

use super::*;

fn wanted(range: &'static str, size: u64) -> Wanted {
    Wanted::read(&HeaderMap::from_iter([(RANGE, HeaderValue::from_static(range))]), size)
}

fn part(start: u64, length: u64) -> Wanted {
    Wanted::Part(ByteRange { start, length: Some(length) })
}

#[test]
fn a_range_is_cut_to_what_there_is() {
    for (range, expected) in [
        ("bytes=0-3", part(0, 4)),
        ("bytes=2-", part(2, 8)),
        ("bytes=-3", part(7, 3)),
        ("bytes=-30", part(0, 10)),
        ("bytes=9-99", part(9, 1)),
        ("bytes=0-18446744073709551615", part(0, 10)),
        ("bytes=10-", Wanted::Nothing),
        ("bytes=10-11", Wanted::Nothing),
        ("bytes=-0", Wanted::Nothing),
    ] {
        assert_eq!(wanted(range, 10), expected, "{range}");
    }
    assert_eq!(wanted("bytes=0-", 0), Wanted::Nothing);
}

#[test]
fn a_range_follows_a_file_that_changed() {
    assert_eq!(part(2, 5).within(4), part(2, 2));
    assert_eq!(part(2, 5).within(40), part(2, 5));
    assert_eq!(part(2, 5).within(2), Wanted::Nothing);
    assert_eq!(Wanted::Whole.within(2), Wanted::Whole);
}

#[test]
fn what_is_no_range_is_the_whole() {
    for range in
        ["bytes=3-2", "bytes=", "bytes=-", "bytes=a-b", "bytes=0-1,3-4", "items=0-1", "bytes=11-x", ""]
    {
        assert_eq!(wanted(range, 10), Wanted::Whole, "{range}");
    }
    assert_eq!(Wanted::read(&HeaderMap::new(), 10), Wanted::Whole);
}
