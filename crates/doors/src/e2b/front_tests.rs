//! Which requests are E2B's, and of which plane.

use axum::body::Body;
use axum::http::Request as HttpRequest;

use super::*;

const DOMAIN: Option<&str> = Some("sbx.test:8443");

fn found(host: &str, uri: &str, headers: &[(&str, &str)]) -> String {
    let mut request = HttpRequest::get(uri).header("host", host);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match way(DOMAIN, &request.body(Body::empty()).unwrap()) {
        Way::Control(path) => format!("control {path}"),
        Way::Data(Wanted::Sandbox { id, port }, path) => format!("{id} {port} {path}"),
        Way::Port(Wanted::Sandbox { id, port }, path) => format!("port {id} {port} {path}"),
        Way::Data(Wanted::SignedFile, path) | Way::Port(Wanted::SignedFile, path) => format!("signed {path}"),
        Way::Refused(_) => "refused".to_owned(),
        Way::Others => "others".to_owned(),
    }
}

const HEADERS: &[(&str, &str)] = &[("e2b-sandbox-id", "iabc-x"), ("e2b-sandbox-port", "49983")];

#[test]
fn on_the_one_port_the_path_and_the_headers_say() {
    let here = |uri, headers| found("localhost:4000", uri, headers);
    assert_eq!(here("/e2b/v2/sandboxes?limit=1", &[]), "control /v2/sandboxes");
    assert_eq!(here("/e2b", &[]), "control /");
    assert_eq!(here("/e2b/files?path=a", HEADERS), "iabc 49983 /files");
    assert_eq!(here("/e2b/files?path=a&signature=v1_x", &[]), "signed /files");
    assert_eq!(here("/files?path=a&signature=v1_x", &[]), "signed /files");
    assert_eq!(here("/files?path=a", &[]), "others");
    assert_eq!(here("/e2bx/v2/sandboxes", &[]), "others");
    assert_eq!(here("/v1/responses", HEADERS), "others");
    assert_eq!(here("/e2b/ports/iabc/3000/a/b?c=d", &[]), "port iabc 3000 /a/b");
    assert_eq!(here("/e2b/ports/iabc/3000", &[]), "port iabc 3000 /");
    for wrong in ["/e2b/ports/iabc", "/e2b/ports/iabc/x/", "/e2b/ports//3000/", "/e2b/ports/i_c/3000/"] {
        assert_eq!(here(wrong, &[]), "refused", "{wrong}");
    }
    assert_eq!(here("/e2b/files", &[("e2b-sandbox-id", "iabc")]), "refused");
    assert_eq!(here("/e2b/files", &[("e2b-sandbox-id", "../x"), ("e2b-sandbox-port", "1")]), "refused");
}

#[test]
fn in_the_domain_the_name_says() {
    assert_eq!(found("api.sbx.test:8443", "/v2/sandboxes", &[]), "control /v2/sandboxes");
    assert_eq!(found("api.sbx.test", "/e2b/v2/sandboxes", &[]), "control /v2/sandboxes");
    assert_eq!(found("3000-iabc.sbx.test", "/v1/responses", &[]), "iabc 3000 /v1/responses");
    assert_eq!(found("49983-iother.sbx.test", "/files", HEADERS), "iabc 49983 /files");
    assert_eq!(found("sandbox.sbx.test", "/files", HEADERS), "iabc 49983 /files");
    assert_eq!(found("sandbox.sbx.test", "/files", &[]), "refused");
    assert_eq!(found("sbx.test", "/v1/responses", &[]), "others");
}

#[test]
fn a_path_is_replaced_and_its_query_kept() {
    let request = |uri: &str| HttpRequest::get(uri).body(Body::empty()).unwrap();
    assert_eq!(with_path(request("/e2b/a?b=%20c"), "/a").unwrap().uri(), "/a?b=%20c");
    assert_eq!(with_path(request("/e2b/a%2Fb"), "/a%2Fb").unwrap().uri(), "/a%2Fb");
}
