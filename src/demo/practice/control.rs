//! The control address: lists the weaknesses, mends and breaks them while everything runs.
//!
//! ```text
//!   GET  /                           what there is, as text
//!   GET  /weaknesses                 the same as JSON
//!   POST /weaknesses/ID/mend|break   one
//!   POST /mend-all, /break-all       all
//! ```

use std::fmt::Write;
use std::net::SocketAddr;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::weaknesses::{ALL, Weaknesses};

/// What the handlers share.
#[derive(Clone)]
struct Control {
    weaknesses: Weaknesses,
    address: SocketAddr,
}

/// The routes of the control address.
pub fn router(weaknesses: Weaknesses, address: SocketAddr) -> Router {
    Router::new()
        .route("/", get(list))
        .route("/weaknesses", get(list_json))
        .route("/weaknesses/{id}/{verb}", post(set))
        .route("/mend-all", post(async |state: State<Control>| set_all(state, false)))
        .route("/break-all", post(async |state: State<Control>| set_all(state, true)))
        .with_state(Control { weaknesses, address })
}

async fn list(State(control): State<Control>) -> String {
    let broken = control.weaknesses.broken();
    let mut text = "Weaknesses of the practice target\n\n".to_owned();
    for one in ALL {
        let word = if broken.contains(one.id) { "broken" } else { "mended" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{word}  {:<17} {}", one.id, one.title);
    }
    let base = format!("http://{}", control.address);
    let _ = write!(
        text,
        "\ncurl -X POST {base}/weaknesses/git/mend\ncurl -X POST {base}/weaknesses/git/break\n\
         curl -X POST {base}/mend-all\ncurl -X POST {base}/break-all\n"
    );
    text
}

async fn list_json(State(control): State<Control>) -> Json<Value> {
    let broken = control.weaknesses.broken();
    let all = ALL
        .iter()
        .map(|one| json!({"id": one.id, "title": one.title, "broken": broken.contains(one.id), "vuln_ids": one.kinds}));
    Json(Value::Array(all.collect()))
}

async fn set(State(control): State<Control>, Path((id, verb)): Path<(String, String)>) -> (StatusCode, String) {
    let is_broken = match verb.as_str() {
        "break" => true,
        "mend" => false,
        _ => return (StatusCode::NOT_FOUND, "the verbs are mend and break\n".to_owned()),
    };
    if control.weaknesses.set(&id, is_broken) {
        return (StatusCode::OK, format!("{id} is {}\n", if is_broken { "broken" } else { "mended" }));
    }
    let ids: Vec<&str> = ALL.iter().map(|one| one.id).collect();
    (StatusCode::NOT_FOUND, format!("no weakness of this name; there are {}\n", ids.join(", ")))
}

fn set_all(State(control): State<Control>, is_broken: bool) -> String {
    control.weaknesses.set_all(is_broken);
    format!("{} weaknesses are {}\n", ALL.len(), if is_broken { "broken" } else { "mended" })
}
