//! Where code comes from, and what is said when it is not text.

use super::*;

fn from_file(content: &[u8], limit: u64) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("code.py");
    std::fs::write(&path, content).unwrap();
    read(None, Some(&path), limit).map_err(|error| {
        assert!(error.is::<BadInput>());
        error.to_string()
    })
}

#[test]
fn code_is_read_as_it_is_but_for_a_byte_order_mark() {
    assert_eq!(from_file("\u{feff}é = 1\r\n".as_bytes(), 100).unwrap(), "é = 1\r\n");
    assert_eq!(read(Some("1+1".into()), None, 100).unwrap(), "1+1");
}

#[test]
fn bytes_that_are_not_utf8_are_located_with_the_name_of_the_file() {
    let message = from_file(b"print('\xff')", 100).unwrap_err();
    assert!(message.contains("code.py") && message.contains("offset 7"), "{message}");
    let inline = OsString::from_vec(b"a\xff".to_vec());
    let message = read(Some(inline), None, 100).unwrap_err().to_string();
    assert!(message.contains("-c") && message.contains("offset 1"), "{message}");
}

#[test]
fn code_past_the_limit_is_refused() {
    assert!(from_file(&[b'#'; 10], 10).is_ok());
    assert!(from_file(&[b'#'; 11], 10).unwrap_err().contains("limit of 10 bytes"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read(None, Some(Path::new("/nowhere/x.py")), 10).unwrap_err();
    assert!(error.is::<BadInput>() && error.to_string().contains("/nowhere/x.py"), "{error}");
}
