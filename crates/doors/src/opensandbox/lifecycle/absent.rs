//! What this server has nothing for, each with its reason.

use super::super::error::Refusal;

pub(super) async fn templates() -> Refusal {
    Refusal::not_here("there are no templates here: sandboxes are made from images")
}

pub(super) async fn pools() -> Refusal {
    Refusal::not_here("there are no named pools here; the server keeps sandboxes ready by itself")
}

pub(super) async fn network_policy() -> Refusal {
    Refusal::not_here("this is for sandboxes of templates; ask at the endpoint of port 18080")
}
