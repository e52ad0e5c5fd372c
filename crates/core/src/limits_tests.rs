//! Sizes read as people write them; limits survive being stored.

use super::{Limits, human_bytes};

#[test]
fn sizes_read_as_people_write_them() {
    for (bytes, text) in
        [(700, "700 bytes"), (1 << 30, "1 GiB"), (512 << 20, "512 MiB"), (1_610_612_736, "1.5 GiB")]
    {
        assert_eq!(human_bytes(bytes), text);
    }
}

#[test]
fn limits_survive_being_stored() {
    let limits = Limits { wall: std::time::Duration::from_millis(1500), ..Limits::default() };
    let stored = serde_json::to_string(&limits).unwrap();
    assert_eq!(serde_json::from_str::<Limits>(&stored).unwrap(), limits);
    assert!(serde_json::from_str::<Limits>(r#"{"memory":1}"#).is_err());
}
