//! Entry point: command line in, exit code out.

fn main() {}
