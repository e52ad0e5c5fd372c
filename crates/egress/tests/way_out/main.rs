//! The egress with real servers around it: what gets out, and what does not.

mod proxy;
mod support;
mod tls;
