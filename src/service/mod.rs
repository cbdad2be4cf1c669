//! The service wing: a complete local implementation of the scanning service's HTTP API v2.

pub mod address;
pub mod engine;
pub mod rails;
pub mod scope;
