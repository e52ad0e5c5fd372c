//! The door without a socket, for the tests of its parts.
