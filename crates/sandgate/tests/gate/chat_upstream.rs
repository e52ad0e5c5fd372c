//! Chat
