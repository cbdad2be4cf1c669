//! Connections of the service: listeners, TLS, names and addresses. Nothing here knows an endpoint.
//!
//! ```text
//!   socket ─► connections (limits: connection_table) ─► tls ─► connection_io ─► HTTP ─► handler
//!   name ─► resolver, dns ─► addresses
//! ```

pub mod address;
pub mod connection_io;
pub mod connection_table;
pub mod connections;
pub mod descriptors;
pub mod dns;
pub mod proxies;
pub mod resolver;
pub mod tls;
