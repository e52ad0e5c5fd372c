//! What programs inside are told.

use sandgate_core::network::NetworkPolicy;

use super::variables;

#[test]
fn programs_are_told_of_the_proxies_where_there_are_any() {
    assert!(variables(&NetworkPolicy::disabled()).is_empty());
    let told = variables(&NetworkPolicy::open());
    for name in ["HTTP_PROXY", "https_proxy", "all_proxy", "NO_PROXY", "no_proxy"] {
        assert!(told.iter().any(|(told, _)| told == name), "{name}");
    }
}
