use super::*;

#[test]
fn what_clients_send_is_understood() {
    let text = |text: &str| read(Message::Text(text.into()));
    assert_eq!(read(Message::Binary(Bytes::from_static(b"\0ls\n"))), Asked::Input("ls\n".into()));
    assert_eq!(read(Message::Binary(Bytes::from_static(b"\x01no"))), Asked::Nothing);
    assert_eq!(read(Message::Binary(Bytes::new())), Asked::Nothing);
    assert_eq!(text(r#"{"type":"stdin","data":"x"}"#), Asked::Input("x".into()));
    assert_eq!(text(r#"{"type":"signal","signal":"SIGINT"}"#), Asked::Signal(2));
    assert_eq!(text(r#"{"type":"signal","signal":"SIGNO"}"#), Asked::Nothing);
    assert_eq!(text(r#"{"type":"resize","cols":100,"rows":30}"#), Asked::Resize { columns: 100, rows: 30 });
    assert_eq!(text(r#"{"type":"resize","cols":0,"rows":30}"#), Asked::Nothing);
    assert_eq!(text(r#"{"type":"ping"}"#), Asked::Ping);
    assert_eq!(text(r#"{"type":"dance"}"#), Asked::Unknown("dance".to_owned()));
}

#[test]
fn what_is_sent_says_whose_it_is() {
    assert_eq!(output(Source::Out, b"a"), Message::Binary(Bytes::from_static(b"\x01a")));
    assert_eq!(output(Source::Err, b"b"), Message::Binary(Bytes::from_static(b"\x02b")));
    let pieces = [(Source::Out, Bytes::from_static(b"a")), (Source::Err, Bytes::from_static(b"b"))];
    let expected = b"\x03\0\0\0\0\0\0\x01\x02ab";
    assert_eq!(replay(258, &pieces), Message::Binary(Bytes::from_static(expected)));
    let word = Word { kind: "exit", exit_code: Some(0), ..Word::default() };
    assert_eq!(word.message(), Message::Text(r#"{"type":"exit","exit_code":0}"#.into()));
}
