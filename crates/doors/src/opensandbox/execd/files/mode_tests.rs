use super::*;

#[test]
fn digits_are_read_as_octal_and_written_so() {
    assert_eq!(bits(755).unwrap(), 0o755);
    assert_eq!(bits(1777).unwrap(), 0o1777);
    assert_eq!(digits(0o644), 644);
    assert_eq!(digits(0o100_600), 600);
    for wrong in [888, 77_777, 649] {
        assert!(bits(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn only_the_one_user_owns_things() {
    let of = |owner: &str| Permission { owner: Some(owner.to_owned()), ..Permission::default() }.bits();
    assert_eq!(of("user").unwrap(), None);
    assert_eq!(of("").unwrap(), None);
    assert!(of("root").unwrap_err().to_string().contains("'root'"));
}
