//! The command line (being composed).
