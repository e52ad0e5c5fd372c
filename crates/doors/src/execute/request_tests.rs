//! Which requests are taken, and what is said of the others.

use super::*;

fn refusal(body: &[u8]) -> String {
    Request::parse(body).unwrap_err().to_string()
}

#[test]
fn every_field_is_read() {
    let body =
        br#"{"code":"1","language":"python","container":"cntr_a","context":"b","timeout":1.5,"stream":true,"network":["registries","a.example"]}"#;
    let request = Request::parse(body).unwrap();
    assert_eq!(
        request,
        Request {
            code: "1".to_owned(),
            language: Some("python".to_owned()),
            container: Some(ContainerId::parse("cntr_a").unwrap()),
            context: Some(ContextId::parse("b").unwrap()),
            timeout: Some(Duration::from_millis(1500)),
            stream: true,
            network: Some(NetworkPolicy::from_words(["registries", "a.example"]).unwrap()),
        }
    );
}

#[test]
fn null_is_as_good_as_absent_but_code_must_be_there() {
    let request = Request::parse(br#"{"code":"","timeout":null,"container":null}"#).unwrap();
    assert_eq!((request.timeout, request.container), (None, None));
    assert!(refusal(br#"{"code":null}"#).contains("'code'"));
    assert!(refusal(b"{}").contains("'code'"));
}

#[test]
fn a_network_is_one_word_or_several() {
    let network = |text: &str| Request::parse(format!(r#"{{"code":"1","network":{text}}}"#).as_bytes());
    assert_eq!(network(r#""open""#).unwrap().network, Some(NetworkPolicy::open()));
    assert_eq!(network("[]").unwrap().network, Some(NetworkPolicy::disabled()));
    assert_eq!(network("null").unwrap().network, None);
    for wrong in ["1", "[1]", r#""*""#, r#"["open","a.b"]"#] {
        assert!(network(wrong).unwrap_err().to_string().contains("'network'"), "{wrong}");
    }
    let told = network(r#"["a.b",1]"#).unwrap_err().to_string();
    assert_eq!(told, "'network' must be a string at every place of the array, not a number");
}

#[test]
fn unknown_fields_are_named() {
    assert!(refusal(br#"{"code":"1","timeuot":3}"#).contains("'timeuot'"));
}

#[test]
fn wrong_types_are_named_with_what_was_found() {
    assert_eq!(refusal(br#"{"code":1}"#), "'code' must be a string, not a number");
    assert_eq!(refusal(br#"{"code":"","stream":"yes"}"#), "'stream' must be true or false, not a string");
    assert_eq!(
        refusal(br#"{"code":"","timeout":"1"}"#),
        "'timeout' must be a number of seconds, not a string"
    );
    assert_eq!(refusal(b"[]"), "the body must be a JSON object");
}

#[test]
fn times_that_are_no_times_are_refused() {
    for time in ["0", "-1", "1e300"] {
        assert!(
            refusal(format!(r#"{{"code":"","timeout":{time}}}"#).as_bytes()).contains("'timeout'"),
            "{time}"
        );
    }
}

#[test]
fn bytes_that_are_not_text_are_located() {
    assert!(refusal(b"{\"code\":\"\xff\"}").contains("byte 9"));
    assert!(refusal(br#"{"code":"\ud800"}"#).contains("line 1"));
    assert!(refusal(b"{\"code\":").contains("line 1"));
}

#[test]
fn ids_with_odd_characters_are_refused() {
    assert!(refusal(br#"{"code":"","container":"../x"}"#).contains("not a valid id"));
}
