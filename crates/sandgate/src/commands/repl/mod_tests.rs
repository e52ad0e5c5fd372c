//! What the prompt does with what is typed.

use super::*;

#[test]
fn lines_lose_their_ends_and_bad_bytes_are_located() {
    let (mut input, mut offset) = (&b"a\r\n\nb\xff"[..], 0);
    assert_eq!(next_line(&mut input, &mut offset).unwrap().unwrap(), "a");
    assert_eq!(next_line(&mut input, &mut offset).unwrap().unwrap(), "");
    let error = next_line(&mut input, &mut offset).unwrap_err();
    assert!(error.is::<BadInput>() && error.to_string().contains("offset 5"), "{error}");
    assert!(next_line(&mut input, &mut offset).unwrap().is_none());
}
