//! The rules of `ARCHITECTURE.md`, as a table.
//!
//! A layer is a path below `src/` without `.rs`: `dashboard/ui` is the file `ui.rs` and the folder
//! `ui/`. `*/draw` is every file and folder of that name; `*` is every file. Names are paths from
//! the root of their crate: `crate::text` matches everything below it, `*::Instant::now` a path
//! with this end, `.await` a method or `await` itself.

/// A check with its reason and the remedy for a violation.
pub struct Rule {
    pub name: &'static str,
    pub reason: &'static str,
    pub remedy: &'static str,
    /// Whether the rule also applies to test code.
    pub in_tests: bool,
    pub check: Check,
}

pub enum Check {
    /// Files in the layers `of`, outside `except`, name nothing below `not` except names below
    /// `but`.
    Names {
        of: &'static [&'static str],
        except: &'static [&'static str],
        not: &'static [&'static str],
        but: &'static [&'static str],
        /// Allowed re-exports of forbidden names.
        through: &'static [&'static str],
    },
    /// The folders `of` of the dashboard name no folder of `not` except their own.
    Folders {
        of: &'static [&'static str],
        not: &'static [&'static str],
    },
    /// Every module directly in the dashboard is one of these.
    KnownFolders {
        folders: &'static [&'static [&'static str]],
    },
    /// No cycle of imports between the modules directly in this one.
    Cycles { module: &'static [&'static str] },
    /// `draw` and `draw_…` take only these types by `&mut`.
    Draw {
        except: &'static [&'static str],
        mutable: &'static [&'static str],
    },
    /// No two types share a name.
    UniqueTypes { except: &'static [&'static str] },
    /// A struct has at most so many fields.
    Fields { of: &'static str, most: usize },
    /// No function of this name returns a bool.
    NoBool { function: &'static str },
    /// Every file begins with a `//!` head.
    FrontPage,
    /// Every file parses and is declared by a module.
    Declared,
    /// Every layer in a rule has files.
    Layers,
}

/// Folders that features share.
pub const SHARED: &[&str] = &[
    "base", "data", "list", "text", "forms", "prompts", "model", "ui", "input", "palette",
];

/// One folder per feature.
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
    "plots",
    "settings",
];

/// Folders that belong to the feature of another folder.
pub const PART_OF: &[(&str, &str)] = &[("loggers", "captures")];

const COMPOSING: &[&str] = &["core", "poller", "runtime", "testing"];

/// The dashboard without the folders that do I/O.
const PURE_DASHBOARD: (&[&str], &[&str]) =
    (&["dashboard"], &["dashboard/poller", "dashboard/runtime"]);

/// Layers that may do I/O, wait or read the clock.
const IMPURE: &[&str] = &[
    "dashboard/runtime",
    "dashboard/poller",
    "client",
    "triage/store",
    "oob/store",
    "text_files",
    "sqlite",
    "cli",
    "demo",
    "service",
    "config",
    "login",
    "base_dirs",
    "input_files",
    "main",
];

/// Names that do I/O, wait or read the clock.
const IMPURE_NAMES: &[&str] = &[
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

/// The store of the service re-exports its error type.
const STORE_ERROR: &[&str] = &["crate::service::store::DatabaseError"];

const EVERYWHERE: &[&str] = &["*"];

const NONE: &[&str] = &[];

const fn names(
    of: &'static [&'static str],
    except: &'static [&'static str],
    not: &'static [&'static str],
    but: &'static [&'static str],
) -> Check {
    Check::Names {
        of,
        except,
        not,
        but,
        through: NONE,
    }
}

/// A rule for all code, including tests.
const fn rule(
    name: &'static str,
    reason: &'static str,
    remedy: &'static str,
    check: Check,
) -> Rule {
    Rule {
        name,
        reason,
        remedy,
        in_tests: true,
        check,
    }
}

/// A rule for production code only; tests may compose other layers.
const fn production_rule(
    name: &'static str,
    reason: &'static str,
    remedy: &'static str,
    check: Check,
) -> Rule {
    Rule {
        in_tests: false,
        ..rule(name, reason, remedy, check)
    }
}

pub const RULES: &[Rule] = &[
    // --- the folders of the dashboard
    production_rule(
        "features-apart",
        "A feature imports no other feature and not `core`, so that it can be read and changed alone.",
        "Move shared code into `model` or below; let `core` route to the other feature.",
        Check::Folders {
            of: FEATURES,
            not: FEATURES_AND_CORE,
        },
    ),
    production_rule(
        "shared-below-features",
        "Folders that features share import no feature and not `core`.",
        "Let `core` pass the table, the column or the closure as an argument.",
        Check::Folders {
            of: SHARED,
            not: FEATURES_AND_CORE,
        },
    ),
    rule(
        "dashboard-folders",
        "Every folder of the dashboard is in the rules: shared, a feature, or composing.",
        "Add the folder to SHARED, FEATURES or COMPOSING, or move its files into an existing folder.",
        Check::KnownFolders {
            folders: &[SHARED, FEATURES, COMPOSING],
        },
    ),
    production_rule(
        "dashboard-cycles",
        "Folders of the dashboard that import each other can only be read and changed together.",
        "Move shared code into the lower folder, or pass it as an argument.",
        Check::Cycles {
            module: &["crate", "dashboard"],
        },
    ),
    production_rule(
        "module-cycles",
        "Top-level modules that import each other can only be read and changed together.",
        "Move shared code into the lower module, or pass it as an argument.",
        Check::Cycles { module: &["crate"] },
    ),
    // --- terminal
    production_rule(
        "terminal-types",
        "State is plain data: only drawing, the text input and the terminal guard name ratatui and tui-textarea.",
        "Keep the state as data and turn it into cells in `draw.rs`.",
        names(
            EVERYWHERE,
            &[
                "*/draw",
                "dashboard/ui",
                "dashboard/text/input",
                "dashboard/runtime/terminal",
            ],
            &["ratatui", "ratatui_core", "ratatui_widgets", "tui_textarea"],
            NONE,
        ),
    ),
    production_rule(
        "terminal-events",
        "Keys are data of this crate: only the code that receives events (runtime, input, Msg, the text input) and the \
         headless commands that read the terminal width name crossterm.",
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
    production_rule(
        "draw-only-draws",
        "A draw function changes only cells and its cache.",
        "Return measures, or change the state in `update`.",
        Check::Draw {
            except: &["dashboard/runtime"],
            mutable: &["Buffer", "Frame", "ViewCache", "Anchor", "StreamAnchor"],
        },
    ),
    // --- purity
    rule(
        "pure",
        "Computations can be tested without a clock, a network or a disk.",
        "Return an `Effect` or take the value (`Now`, the bytes, the id) as an argument.",
        names(EVERYWHERE, IMPURE, IMPURE_NAMES, NONE),
    ),
    rule(
        "reqwest",
        "Each wing has one HTTP client, which enforces its limits and rules.",
        "Call a function of `client`, or of the engine's `http`.",
        names(
            EVERYWHERE,
            &[
                "client",
                "service/engine",
                "service/callbacks",
                "demo/practice",
            ],
            &["reqwest"],
            NONE,
        ),
    ),
    rule(
        "sql",
        "Only the stores use SQL.",
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
    // --- who knows whom
    rule(
        "contract",
        "The wire types import no other module.",
        "Move the function to the module that needs it.",
        names(&["contract"], NONE, &["crate"], &["crate::contract"]),
    ),
    rule(
        "dashboard-shell",
        "`core` and the features do no I/O: time, keys and responses arrive as messages, and effects leave as data.",
        "Return an `Effect`; only the error and the record of a call may be imported from the client.",
        names(
            PURE_DASHBOARD.0,
            PURE_DASHBOARD.1,
            &[
                "crate::client",
                "crate::dashboard::runtime",
                "crate::dashboard::poller",
            ],
            &[
                "crate::client::Problem",
                "crate::client::problem",
                "crate::client::calls",
            ],
        ),
    ),
    rule(
        "state-draws-nothing",
        "State and keys do not import the drawing code.",
        "Move drawing code into `draw.rs`, and other code out of `ui`.",
        names(
            &["dashboard"],
            &[
                "*/draw",
                "dashboard/ui",
                "dashboard/runtime",
                "dashboard/poller",
            ],
            &["crate::dashboard::ui"],
            NONE,
        ),
    ),
    rule(
        "poller",
        "The poller decides when to fetch and draws nothing.",
        "Send the data; `core` decides what the screen shows.",
        names(
            &["dashboard/poller"],
            NONE,
            &["crate::dashboard::ui", "crate::dashboard::runtime"],
            NONE,
        ),
    ),
    // --- inside the service
    rule(
        "engine",
        "The scan engine uses neither SQL nor the API, so that a check is a function of its observations.",
        "Return the finding; the worker stores it.",
        names(
            &["service/engine"],
            NONE,
            &[
                "sqlx",
                "axum",
                "crate::service::store",
                "crate::service::routes",
            ],
            NONE,
        ),
    ),
    rule(
        "routes",
        "Routes handle HTTP; only the store uses SQL.",
        "Add a function to the store.",
        Check::Names {
            of: &["service/routes"],
            except: NONE,
            not: &["sqlx"],
            but: NONE,
            through: STORE_ERROR,
        },
    ),
    rule(
        "store",
        "The store uses SQL and no HTTP.",
        "Return data; the route builds the response.",
        names(
            &["service/store"],
            NONE,
            &["axum", "reqwest", "crate::service::routes"],
            NONE,
        ),
    ),
    // --- names and sizes
    production_rule(
        "type-names",
        "A type name has one meaning in the whole crate.",
        "Give the type the noun of its domain: `FindingRow`, `CaptureRow`.",
        Check::UniqueTypes {
            except: &["Error", "Store"],
        },
    ),
    production_rule(
        "model-fields",
        "`Model` groups state by area, not by single values.",
        "Move the field into the state of its feature.",
        Check::Fields {
            of: "Model",
            most: 15,
        },
    ),
    production_rule(
        "no-handled-bool",
        "One exhaustive match routes an action, not a chain of functions that may handle it.",
        "Nest the action by area and match it once in `core/update`.",
        Check::NoBool {
            function: "perform",
        },
    ),
    // --- the tree
    rule(
        "front-page",
        "A file begins with a summary of its content.",
        "Begin the file with a `//!` head.",
        Check::FrontPage,
    ),
    rule(
        "declared",
        "A file that no module declares is neither compiled nor checked by the rules.",
        "Declare the file with `mod`, or delete it.",
        Check::Declared,
    ),
    rule(
        "rules-current",
        "A rule on a deleted layer checks nothing.",
        "Update the layer in the rule, or remove it.",
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
    "plots",
    "settings",
    "core",
];
