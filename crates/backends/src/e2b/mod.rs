//! E2B's protocol, as a client.
