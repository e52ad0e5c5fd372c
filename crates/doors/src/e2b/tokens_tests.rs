//! Who shows the right token, and what a signature holds.

use axum::http::HeaderValue;

use super::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
}

fn details() -> Details {
    Details { envd_token: "ea_1".to_owned(), traffic_token: "ta_1".to_owned(), ..Details::default() }
}

#[test]
fn an_empty_token_opens_nothing() {
    assert!(!same("", ""));
    assert_eq!(shown(&headers(&[(ENVD_HEADER, "")]), ENVD_HEADER, ""), Shown::Nothing);
    assert_eq!(shown(&headers(&[(ENVD_HEADER, "x")]), ENVD_HEADER, ""), Shown::Wrong);
    let nobody = Details::default();
    assert!(!opens_port(&nobody, &headers(&[(TRAFFIC_HEADER, "")]), true, false));
    let uri: Uri = format!("/files?path=/a&signature={}", sign("/a", "read", "", "", None)).parse().unwrap();
    let signed = Signed::of(&Method::GET, "/files", &uri).unwrap();
    assert_eq!(signed.check(""), Signature::Wrong);
}

#[test]
fn ports_take_the_traffic_token_and_code_also_envds() {
    let details = details();
    let (traffic, envd) = (headers(&[(TRAFFIC_HEADER, "ta_1")]), headers(&[(ENVD_HEADER, "ea_1")]));
    assert!(opens_port(&details, &traffic, false, false));
    assert!(opens_port(&details, &envd, true, false));
    assert!(!opens_port(&details, &envd, false, false));
    assert!(!opens_port(&details, &headers(&[]), true, false));
    // A wrong token is never as good as none.
    assert!(!opens_port(&details, &headers(&[(TRAFFIC_HEADER, "ta_2"), (ENVD_HEADER, "ea_1")]), true, true));
}

#[test]
fn open_ports_stay_shut_for_who_asked_for_that() {
    let mut details = details();
    assert!(opens_port(&details, &headers(&[]), false, true));
    details.network = Some(serde_json::json!({"allowPublicTraffic": false}));
    assert!(!opens_port(&details, &headers(&[]), false, true));
}

#[test]
fn a_signature_is_for_one_path_one_user_and_one_operation() {
    // As the SDKs compute it.
    assert_eq!(
        sign("/home/user/a.txt", "read", "user", "ea_1", Some("1900000000")),
        format!(
            "v1_{}",
            STANDARD_NO_PAD.encode(Sha256::digest(b"/home/user/a.txt:read:user:ea_1:1900000000"))
        )
    );
    let signature = sign("/a b", "read", "", "ea_1", None);
    let encoded = signature.replace('+', "%2B").replace('/', "%2F");
    let uri: Uri = format!("/files?path=%2Fa%20b&signature={encoded}").parse().unwrap();
    let check = |method, uri: &Uri| Signed::of(&method, "/files", uri).unwrap().check("ea_1");
    assert_eq!(check(Method::GET, &uri), Signature::Good);
    assert_eq!(check(Method::POST, &uri), Signature::Wrong);
    let other: Uri = format!("/files?path=%2Fa&signature={encoded}").parse().unwrap();
    assert_eq!(check(Method::GET, &other), Signature::Wrong);
    let late: Uri =
        format!("/files?path=%2Fa%20b&signature={encoded}&signature_expiration=9").parse().unwrap();
    assert_eq!(check(Method::GET, &late), Signature::Wrong);
}

#[test]
fn a_signature_expires() {
    let uri = |expiration: &str| -> Uri {
        let encoded =
            sign("/a", "read", "", "ea_1", Some(expiration)).replace('+', "%2B").replace('/', "%2F");
        format!("/files?path=/a&signature_expiration={expiration}&signature={encoded}").parse().unwrap()
    };
    let check =
        |expiration: &str| Signed::of(&Method::GET, "/files", &uri(expiration)).unwrap().check("ea_1");
    assert_eq!(check("99999999999"), Signature::Good);
    assert_eq!(check("1000"), Signature::Expired);
    assert_eq!(check("soon"), Signature::Expired);
}

#[test]
fn only_files_are_signed() {
    let uri: Uri = "/files?path=/a".parse().unwrap();
    assert!(Signed::of(&Method::GET, "/files", &uri).is_none());
    let uri: Uri = "/execute?signature=v1_x".parse().unwrap();
    assert!(Signed::of(&Method::GET, "/execute", &uri).is_none());
    let uri: Uri = "/files?signature=v1_x".parse().unwrap();
    assert!(Signed::of(&Method::DELETE, "/files", &uri).is_none());
}
