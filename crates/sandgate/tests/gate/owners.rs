//! Owners
