//! The page says what code really reaches.

use sandgate_core::network::{DomainSecret, NetworkPolicy};
use sandgate_core::{NewContainer, Secret};

use super::super::link;
use super::show;
use crate::testing::TestConsole;

#[test]
fn each_kind_of_policy_has_its_words() {
    let shown = |policy: &NetworkPolicy| show(policy).into_string();
    assert!(shown(&NetworkPolicy::disabled()).contains("reaches nothing outside"));
    assert!(shown(&NetworkPolicy::open()).contains("reaches everything outside"));
    let mut some = NetworkPolicy::from_words(["pypi.org", "registries"]).unwrap();
    let secret = Secret::new("do-not-show".to_owned());
    let secret = DomainSecret::new("pypi.org", "TOKEN".to_owned(), secret).unwrap();
    let placeholder = secret.placeholder.clone();
    some.secrets.push(secret);
    let some = shown(&some);
    for words in ["pypi.org", "is allowed", "everything else is denied", "registries", "TOKEN"] {
        assert!(some.contains(words), "{words} in {some}");
    }
    assert!(!some.contains("do-not-show") && !some.contains(&placeholder), "{some}");
}

/// As the E2B door makes them: with a policy, and without words of its own for it.
#[tokio::test]
async fn a_container_with_the_open_internet_says_so() {
    let console = TestConsole::new(None).await;
    let new = NewContainer { network: Some(NetworkPolicy::open()), ..NewContainer::default() };
    let container = console.container(new).await;
    let page = console.get(&link(container.id().as_str()), "").await.body;
    assert!(page.contains("reaches everything outside") && !page.contains("reaches nothing"), "{page}");
}
