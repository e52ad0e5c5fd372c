use super::*;

#[test]
fn all_forms_that_clients_write_are_read() {
    let text = concat!(
        "A=plain \n# a remark\n\nB='it''s'\nC='two\nlines'\n",
        "D=\"it's \\\"so\\\" \\\\ \\n\"\nA=again\nno line\n1X=no\nE=\nF='open"
    );
    let expected = [
        ("A", "plain"),
        ("B", "it"),
        ("C", "two\nlines"),
        ("D", "it's \"so\" \\ \n"),
        ("A", "again"),
        ("E", ""),
        ("F", "'open"),
    ];
    let expected: Vec<_> = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(parse(text), expected);
    assert_eq!(parse(""), []);
}
