use super::*;

#[test]
fn the_name_of_a_file_says_its_length() {
    assert_eq!(size("path=%2Fhome%2Fuser%2F1024.bin"), 1024);
    assert_eq!(size("username=user&path=/home/user/7.bin"), 7);
    assert_eq!(size("path=other"), 0);
}

#[test]
fn a_command_is_four_frames_and_the_last_one_says_so() {
    let mut bytes: &[u8] = &command();
    let mut flags = Vec::new();
    while let [flag, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        serde_json::from_slice::<serde_json::Value>(&rest[..length]).unwrap();
        flags.push(*flag);
        bytes = &rest[length..];
    }
    assert_eq!(flags, [0, 0, 0, LAST]);
}
