//! The rules of `ARCHITECTURE.md`, as a table.
//!
//! A layer is a path below `src/` without `.rs`: `dashboard/ui` is the file `ui.rs` and the folder `ui/`. `*/draw` is
//! every file and folder of that name; `*` is every file. Names are paths from the root of their crate: `crate::text`
//! stands for everything below it, `*::Instant::now` for a path with that end, `.await` for a method or `await` itself.

/// A sentence that says why, what to do about a violation, and what is checked.
pub struct Rule {
    pub name: &'static str,
    pub why: &'static str,
    pub remedy: &'static str,
    /// Whether the rule also holds in code for tests.
    pub in_tests: bool,
    pub check: Check,
}

pub enum Check {
    /// Files of the layers `of`, outside of `except`, name nothing of `not` but what is below `but`.
    Names {
        of: &'static [&'static str],
        except: &'static [&'static str],
        not: &'static [&'static str],
        but: &'static [&'static str],
        /// Names that may be used although they stand for a forbidden one.
        through: &'static [&'static str],
    },
    /// Folders `of` the dashboard name none of the folders `not` but their own.
    Folders { of: &'static [&'static str], not: &'static [&'static str] },
    /// Every module directly in the dashboard is one of these.
    Known { folders: &'static [&'static [&'static str]] },
    /// No circle of imports between the modules directly in this one.
    Circles { module: &'static [&'static str] },
    /// `draw` and `draw_…` take only these types by `&mut`.
    Draw { except: &'static [&'static str], mutable: &'static [&'static str] },
    /// No two types share a name.
    UniqueTypes { except: &'static [&'static str] },
    /// A struct has at most so many fields.
    Fields { of: &'static str, most: usize },
    /// No function of this name returns a bool.
    NoBool { function: &'static str },
    /// Every file opens with what it is for.
    FrontPage,
    /// Every file can be read and is declared by a module.
    Declared,
    /// Every layer that a rule names exists.
    Layers,
}

/// What features are made of and share.
pub const SHARED: &[&str] = &["base", "data", "list", "text", "forms", "prompts", "model", "ui", "input", "palette"];

/// One folder a feature; the parts of a feature lie inside its folder.
pub const FEATURES: &[&str] = &[
    "workspaces",
    "targets",
    "scans",
    "findings",
    "captures",
    "loggers",
    "payloads",
    "reports",
    "wordlists",
    "activity",
    "settings",
];

/// Folders that belong to the feature of another one.
pub const PART_OF: &[(&str, &str)] = &[("loggers", "captures")];

const COMPOSING: &[&str] = &["core", "poller", "runtime", "testing"];

/// The dashboard without what reaches outside.
const PURE_DASHBOARD: (&[&str], &[&str]) = (&["dashboard"], &["dashboard/poller", "dashboard/runtime"]);

/// What may reach outside the process or read the clock: the shells of both wings, the stores, and what is read at start.
const REACHES_OUTSIDE: &[&str] = &[
    "dashboard/runtime",
    "dashboard/poller",
    "client",
    "triage/store",
    "oob/store",
    "sqlite",
    "cli",
    "demo",
    "service",
    "config",
    "login",
    "main",
];

/// What reaches outside the process, waits, or reads the clock.
const OUTSIDE: &[&str] = &[
    "tokio",
    "reqwest",
    "std::fs",
    "std::process",
    "std::thread",
    "std::env",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::net::ToSocketAddrs",
    "std::os::unix::net",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "*::Instant::now",
    "*::SystemTime::now",
    "*::Timestamp::now",
    "*::Zoned::now",
    ".await",
    ".elapsed",
    ".exists",
    ".is_file",
    ".is_dir",
    ".metadata",
    ".canonicalize",
    ".read_dir",
    ".to_socket_addrs",
];

/// The service's store hands its failures on under a name of its own.
const STORE_ERROR: &[&str] = &["crate::service::store::DatabaseError"];

const EVERYWHERE: &[&str] = &["*"];

const NONE: &[&str] = &[];

const fn names(
    of: &'static [&'static str],
    except: &'static [&'static str],
    not: &'static [&'static str],
    but: &'static [&'static str],
) -> Check {
    Check::Names { of, except, not, but, through: NONE }
}

/// A rule for all code.
const fn rule(name: &'static str, why: &'static str, remedy: &'static str, check: Check) -> Rule {
    Rule { name, why, remedy, in_tests: true, check }
}

/// A rule that code for tests need not keep: it may compose what the code it tests may not.
const fn but_tests(name: &'static str, why: &'static str, remedy: &'static str, check: Check) -> Rule {
    Rule { in_tests: false, ..rule(name, why, remedy, check) }
}

pub const RULES: &[Rule] = &[
    // --- the folders of the dashboard
    but_tests(
        "features-apart",
        "A feature knows no other feature and not the core, so that it can be read and changed alone.",
        "Move what both need into `model` or below; let the core route what another feature does.",
        Check::Folders { of: FEATURES, not: FEATURES_AND_CORE },
    ),
    but_tests(
        "shared-below-features",
        "What all features share knows none of them and not the core.",
        "Let the core pass in the table, the column or the closure that is needed.",
        Check::Folders { of: SHARED, not: FEATURES_AND_CORE },
    ),
    rule(
        "dashboard-folders",
        "Every folder of the dashboard has its place in the rules: shared, a feature, or composing.",
        "Add the folder to SHARED or FEATURES, or move its files into a folder that is there.",
        Check::Known { folders: &[SHARED, FEATURES, COMPOSING] },
    ),
    but_tests(
        "dashboard-circles",
        "Folders of the dashboard that import each other can only be read and changed together.",
        "Move what both need into the lower folder, or pass it in.",
        Check::Circles { module: &["crate", "dashboard"] },
    ),
    but_tests(
        "module-circles",
        "Top-level modules that import each other can only be read and changed together.",
        "Move what both need into the lower module, or pass it in.",
        Check::Circles { module: &["crate"] },
    ),
    // --- terminal
    but_tests(
        "terminal-types",
        "State stays plain data: only drawing, the text input and the terminal guard know ratatui and the text area.",
        "Keep the state as data and turn it into cells in `draw.rs`.",
        names(
            EVERYWHERE,
            &["*/draw", "dashboard/ui", "dashboard/text/input", "dashboard/runtime/terminal"],
            &["ratatui", "ratatui_core", "ratatui_widgets", "tui_textarea"],
            NONE,
        ),
    ),
    but_tests(
        "terminal-events",
        "Keys are our own data: crossterm is known where events arrive (runtime, input, Msg, the text input) and where \
         headless commands ask for the width of the terminal.",
        "Take a `Key`, or the event under the name that `dashboard/input` gives it.",
        Check::Names {
            of: EVERYWHERE,
            except: &[
                "dashboard/runtime",
                "dashboard/input",
                "dashboard/core/msg",
                "dashboard/text/input",
                "cli/headless/print",
                "cli/headless/watch",
            ],
            not: &["crossterm"],
            but: NONE,
            through: &["crate::dashboard::input"],
        },
    ),
    but_tests(
        "draw-only-draws",
        "Drawing changes cells and its own cache, nothing else.",
        "Return what was measured, or change the state in `update`.",
        Check::Draw {
            except: &["dashboard/runtime"],
            mutable: &["Buffer", "Frame", "ViewCache", "Anchor", "StreamAnchor"],
        },
    ),
    // --- purity
    rule(
        "pure",
        "What is computed can be tested without a clock, a network or a disk.",
        "Return an `Effect` or take the value (`Now`, the bytes, the id) as an argument.",
        names(EVERYWHERE, REACHES_OUTSIDE, OUTSIDE, NONE),
    ),
    rule(
        "reqwest",
        "One place a wing speaks HTTP as a client, so that limits and rules are kept there.",
        "Call a function of `client`, or of the engine's `http`.",
        names(EVERYWHERE, &["client", "service/engine", "service/callbacks", "demo/practice"], &["reqwest"], NONE),
    ),
    rule(
        "sql",
        "SQL is spoken by the stores alone.",
        "Add a function to the store.",
        Check::Names {
            of: EVERYWHERE,
            except: &["sqlite", "triage/store", "oob/store", "service/store"],
            not: &["sqlx"],
            but: NONE,
            through: STORE_ERROR,
        },
    ),
    rule(
        "server",
        "Only the service serves HTTP.",
        "Move the route into `service/routes`.",
        names(EVERYWHERE, &["service", "demo"], &["axum"], NONE),
    ),
    // --- the wings
    rule(
        "wings-dashboard",
        "The wings share only the wire types: whoever knows the service composes it.",
        "Talk to the service over HTTP (`client`), or move the code to `cli`, `demo` or `dashboard/runtime/local.rs`.",
        names(EVERYWHERE, &["cli", "demo", "dashboard/runtime/local", "service"], &["crate::service"], NONE),
    ),
    rule(
        "wings-service",
        "The service builds alone and knows nothing of the dashboard.",
        "Move what both wings need into `contract`, `report`, `sqlite` or `login`.",
        names(
            &["service"],
            NONE,
            &["crate"],
            &["crate::service", "crate::contract", "crate::report", "crate::sqlite", "crate::login"],
        ),
    ),
    rule(
        "composition-on-top",
        "The command line and the demo compose everything, so nothing knows them.",
        "Move what is needed into the module below.",
        names(EVERYWHERE, &["cli", "demo", "main"], &["crate::cli", "crate::demo"], NONE),
    ),
    // --- who knows whom
    rule(
        "contract",
        "The wire types know nobody.",
        "Move the function to the module that needs it.",
        names(&["contract"], NONE, &["crate"], &["crate::contract"]),
    ),
    rule(
        "domain-below-front-ends",
        "Both front ends use the domain, so it knows neither of them, nor who fetches its data.",
        "Move the shared type down, or take its values as arguments.",
        names(
            &["triage", "oob", "query", "export", "text", "sqlite"],
            NONE,
            &["crate::dashboard", "crate::client", "crate::config"],
            NONE,
        ),
    ),
    rule(
        "table",
        "Tables are data for both front ends: of the client they know only why a fetch failed.",
        "Move the shared type down, or take its values as arguments.",
        names(
            &["table"],
            NONE,
            &["crate::dashboard", "crate::client", "crate::config"],
            &["crate::client::Problem", "crate::client::problem"],
        ),
    ),
    rule(
        "report",
        "Both wings write reports with it: it knows only the wire types and texts.",
        "Take the values as arguments.",
        names(&["report"], NONE, &["crate"], &["crate::report", "crate::contract", "crate::text"]),
    ),
    rule(
        "client",
        "The client speaks HTTP and knows nobody who uses it.",
        "Take the values as arguments.",
        names(&["client"], NONE, &["crate::dashboard", "crate::config"], NONE),
    ),
    rule(
        "dashboard-shell",
        "The core and the features know no shell: time, keys and answers come in as messages, effects go out as data.",
        "Describe the call as an `Effect`; of the client only what a call can end with is known.",
        names(
            PURE_DASHBOARD.0,
            PURE_DASHBOARD.1,
            &["crate::client", "crate::dashboard::runtime", "crate::dashboard::poller"],
            &["crate::client::Problem", "crate::client::problem"],
        ),
    ),
    rule(
        "state-draws-nothing",
        "State and keys know nothing of how they are drawn.",
        "Move what draws into `draw.rs`, and what does not out of `ui`.",
        names(
            &["dashboard"],
            &["*/draw", "dashboard/ui", "dashboard/runtime", "dashboard/poller"],
            &["crate::dashboard::ui"],
            NONE,
        ),
    ),
    rule(
        "poller",
        "The poller decides when to fetch and draws nothing.",
        "Report the data; the core decides what is shown.",
        names(&["dashboard/poller"], NONE, &["crate::dashboard::ui", "crate::dashboard::runtime"], NONE),
    ),
    // --- inside the service
    rule(
        "engine",
        "The scan engine speaks neither SQL nor the API, so that a check is a function of what it saw.",
        "Return the finding; the worker stores it.",
        names(&["service/engine"], NONE, &["sqlx", "axum", "crate::service::store", "crate::service::routes"], NONE),
    ),
    rule(
        "routes",
        "Routes speak HTTP, the store speaks SQL.",
        "Add a function to the store.",
        Check::Names { of: &["service/routes"], except: NONE, not: &["sqlx"], but: NONE, through: STORE_ERROR },
    ),
    rule(
        "store",
        "The store speaks SQL only.",
        "Return data; the route makes the answer.",
        names(&["service/store"], NONE, &["axum", "reqwest", "crate::service::routes"], NONE),
    ),
    // --- names and sizes
    but_tests(
        "type-names",
        "A name means one thing in the whole crate.",
        "Give the type the noun of its domain: `FindingRow`, `CaptureRow`.",
        Check::UniqueTypes { except: &["Error", "Store"] },
    ),
    but_tests(
        "model-fields",
        "The model composes the features; it is no drawer for single values.",
        "Move the field into the state of its feature.",
        Check::Fields { of: "Model", most: 15 },
    ),
    but_tests(
        "no-attempts",
        "One exhaustive match routes an action; no chain of attempts asks who takes it.",
        "Nest the action by area and match it once in `core/update`.",
        Check::NoBool { function: "perform" },
    ),
    // --- the tree
    rule("front-page", "A file opens with what it is for.", "Begin the file with `//!`.", Check::FrontPage),
    rule(
        "declared",
        "A file that no module declares is not compiled, and no rule sees it.",
        "Declare the file with `mod`, or delete it.",
        Check::Declared,
    ),
    rule(
        "rules-current",
        "A rule on a layer that is gone holds nothing.",
        "Write the new place of the layer into the rule, or remove it from there.",
        Check::Layers,
    ),
];

const FEATURES_AND_CORE: &[&str] = &[
    "workspaces",
    "targets",
    "scans",
    "findings",
    "captures",
    "loggers",
    "payloads",
    "reports",
    "wordlists",
    "activity",
    "settings",
    "core",
];
