//! Responses that run with nobody waiting for them.
