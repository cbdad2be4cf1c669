//! The budgets that `.ci/full` enforces: the goals of the terminal.

/// A figure that must not exceed a limit.
pub struct Budget {
    name: &'static str,
    limit: f64,
}

/// MB with 100,000 distinct findings.
pub const PEAK: Budget = Budget {
    name: "peak memory in MB",
    limit: 160.0,
};
/// The same at a start from the cache.
pub const PEAK_FROM_CACHE: Budget = Budget {
    name: "peak memory from the cache in MB",
    limit: 160.0,
};
/// Wake-ups per second while four scans move: there is no tick.
pub const WAKE_UPS: Budget = Budget {
    name: "wake-ups per second",
    limit: 6.0,
};
/// Milliseconds of a key beside broken answers, 99th percentile.
pub const KEY_BESIDE_FAULTS: Budget = Budget {
    name: "milliseconds of a key beside broken answers",
    limit: 16.0,
};

/// The figures that exceed their budgets.
#[derive(Default)]
pub struct Budgets {
    exceeded: Vec<String>,
}

impl Budgets {
    pub fn add(&mut self, budget: &Budget, figure: f64) {
        if figure > budget.limit {
            self.exceeded.push(format!(
                "{}: {figure:.1}, budget {:.1}",
                budget.name, budget.limit
            ));
        }
    }

    /// Prints what exceeds its budget. With `SCANDECK_BUDGETS` that is a failure.
    pub fn enforce(self) {
        for line in &self.exceeded {
            println!("over budget: {line}");
        }
        if !self.exceeded.is_empty() && std::env::var_os("SCANDECK_BUDGETS").is_some() {
            std::process::exit(1);
        }
    }
}
