//! The reason is told where it is the reason.

use sandgate_core::{CodeError, Event};

use super::*;
use crate::outputs::tests::outcome;

fn raised(value: &str) -> Outcome {
    let error = CodeError { name: "OSError".to_owned(), value: value.to_owned(), traceback: Vec::new() };
    outcome(vec![Event::Error(error)])
}

#[test]
fn a_container_without_a_network_is_named_where_code_failed_for_that() {
    let closed = NetworkPolicy::disabled();
    for value in [
        "[Errno -3] Temporary failure in name resolution",
        "[Errno 101] Network is unreachable",
        "HTTPSConnectionPool(host='a.example', port=443): Max retries exceeded (Caused by \
         NameResolutionError(\"Failed to resolve 'a.example'\"))",
        "getaddrinfo EAI_AGAIN a.example",
    ] {
        assert!(note(&raised(value), &closed).is_some_and(|note| note.contains("no network")), "{value}");
        assert_eq!(note(&raised(value), &NetworkPolicy::open()), None, "{value}");
    }
    assert_eq!(note(&raised("division by zero"), &closed), None);
    let printed = Event::Stdout { text: "Network is unreachable".to_owned() };
    assert_eq!(note(&outcome(vec![printed]), &closed), None);
}
