//! Tests of the lifecycle API.
