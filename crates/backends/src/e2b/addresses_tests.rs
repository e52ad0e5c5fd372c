//! Where the parts of E2B are looked for.

use sandgate_core::Secret;

use super::*;
use crate::{Deadlines, Reach};

fn addresses(api_url: Option<&str>, domain: Option<&str>, sandbox_url: Option<&str>) -> Addresses {
    let settings = E2bSettings {
        api_url: api_url.map(str::to_owned),
        domain: domain.map(str::to_owned),
        sandbox_url: sandbox_url.map(str::to_owned),
        api_key: Secret::new("k".to_owned()),
        template: "t".to_owned(),
        deadlines: Deadlines::default(),
        reach: Reach::default(),
    };
    Addresses::new(&settings).unwrap()
}

fn port(addresses: &Addresses, said: Option<&str>) -> Result<String, String> {
    let id = PlaceId::parse("iabc").unwrap();
    addresses.port(&id, said, 49999).map(|found| found.to_string()).map_err(|error| error.to_string())
}

#[test]
fn without_a_word_it_is_the_cloud_with_one_host_for_all_sandboxes() {
    let cloud = addresses(None, None, None);
    assert_eq!(cloud.api.to_string(), "https://api.e2b.app");
    assert_eq!(port(&cloud, None).unwrap(), "https://sandbox.e2b.app");
    // The server may have put the sandbox elsewhere.
    assert_eq!(port(&cloud, Some("e2b-juliett.dev")).unwrap(), "https://sandbox.e2b-juliett.dev");
    assert_eq!(port(&cloud, Some("own.test:8443")).unwrap(), "https://49999-iabc.own.test:8443");
}

#[test]
fn a_domain_of_ones_own_has_a_name_for_each_port() {
    let own = addresses(None, Some("own.test:8443"), None);
    assert_eq!(own.api.to_string(), "https://api.own.test:8443");
    assert_eq!(port(&own, None).unwrap(), "https://49999-iabc.own.test:8443");
    // A server by its usual name says its domain by it.
    assert_eq!(
        port(&addresses(Some("https://api.own.test"), None, None), None).unwrap(),
        "https://49999-iabc.own.test"
    );
}

#[test]
fn a_server_of_ones_own_never_sends_code_to_the_cloud() {
    let own = addresses(Some("http://10.0.0.5:3000"), None, None);
    assert!(port(&own, None).unwrap_err().contains("gave no domain"));
    assert!(port(&own, Some("")).unwrap_err().contains("gave no domain"));
    assert_eq!(port(&own, Some("own.test")).unwrap(), "https://49999-iabc.own.test");
    let one = addresses(Some("http://10.0.0.5:3000/e2b"), None, Some("http://10.0.0.5:3000/e2b"));
    assert_eq!(port(&one, Some("own.test")).unwrap(), "http://10.0.0.5:3000/e2b");
}

#[test]
fn what_would_lead_elsewhere_is_refused() {
    let cloud = addresses(None, None, None);
    for said in ["own.test/path", "user@own.test", "own test"] {
        assert!(port(&cloud, Some(said)).is_err(), "{said}");
    }
    let dotted = PlaceId::parse("a.b").unwrap();
    assert!(cloud.port(&dotted, None, 49999).is_err());
}
