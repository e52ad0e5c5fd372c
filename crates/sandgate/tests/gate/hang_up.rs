//! Hang
