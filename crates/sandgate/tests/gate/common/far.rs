//! A second server as the provider of sandboxes, seen by who has an account there.

use serde_json::Value;

use super::{Client, World};

/// The key of the gate's operator at the provider.
pub(crate) const ACCOUNT: &str = "e2b_0123456789abcdef";

/// The operator of the gate, at the provider.
pub(crate) fn account(far: &World) -> Client {
    Client::new(far.client([]).address, ACCOUNT)
}

/// Sandboxes at the provider, whichever door they were asked for by.
pub(crate) fn left_at(far: &World) -> usize {
    let account = account(far);
    let e2b = account.get("/e2b/v2/sandboxes").ok();
    let opensandbox = account.get("/v1/sandboxes").ok();
    let count = |list: &Value| list.as_array().expect("a list").len();
    count(&e2b) + count(&opensandbox["items"])
}
