//! The file descriptors of the process, shared between its parts so that none takes those of
//! another.
//!
//! ```text
//!   limit ─► files and database ─► 1/4 API ─► 1/4 loggers ─► 1/2 scans
//! ```

/// Descriptors for the database, its log, the standard streams, the runtime and callbacks.
const FILES: usize = 96;

/// The largest number of descriptors of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorShares {
    pub api: usize,
    pub loggers: usize,
    pub scans: usize,
}

impl DescriptorShares {
    /// The shares of this process.
    pub fn of_process() -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        Self::of(
            limit
                .and_then(|limit| usize::try_from(limit).ok())
                .unwrap_or(4096),
        )
    }

    fn of(limit: usize) -> Self {
        let rest = limit.saturating_sub(FILES);
        Self {
            api: (rest / 4).max(4),
            loggers: (rest / 4).max(4),
            scans: (rest / 2).max(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_within_the_limit() {
        for limit in [256, 1024, 20_000] {
            let shares = DescriptorShares::of(limit);
            assert!(
                shares.api + shares.loggers + shares.scans + FILES <= limit,
                "{limit}: {shares:?}"
            );
        }
        assert!(DescriptorShares::of(0).api > 0);
    }
}
