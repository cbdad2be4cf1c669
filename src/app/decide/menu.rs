//! The menu of `t`.
