//! OpenSandbox's protocol, as a client.
