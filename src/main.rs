//! Entry point: command line in, exit code out.

fn main() -> std::process::ExitCode {
    scandeck::cli::run()
}
