//! The control address: lists the weaknesses and switches them on and off.
//!
//! ```text
//!   GET  /                        the list as text
//!   GET  /weaknesses              the list as JSON
//!   POST /weaknesses/ID/on|off    switches one
//!   POST /all-on, /all-off        switches all
//! ```

use std::fmt::Write;
use std::net::SocketAddr;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::weaknesses::{ALL, Weakness, Weaknesses};

#[derive(Clone)]
struct Control {
    weaknesses: Weaknesses,
    address: SocketAddr,
}

pub fn router(weaknesses: Weaknesses, address: SocketAddr) -> Router {
    let all =
        |active: bool| post(async move |State(control): State<Control>| set_all(&control, active));
    Router::new()
        .route("/", get(list))
        .route("/weaknesses", get(list_json))
        .route("/weaknesses/{id}/{verb}", post(set))
        .route("/all-on", all(true))
        .route("/all-off", all(false))
        .with_state(Control {
            weaknesses,
            address,
        })
}

fn word(is_active: bool) -> &'static str {
    if is_active { "on" } else { "off" }
}

async fn list(State(control): State<Control>) -> String {
    let active = control.weaknesses.active();
    let mut text = "Weaknesses of the practice target\n\n".to_owned();
    for one in ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<3}  {:<17} {}",
            word(active.contains(one.id)),
            one.id,
            one.title
        );
    }
    let base = format!("http://{}", control.address);
    let _ = write!(
        text,
        "\ncurl -X POST {base}/weaknesses/git/off\ncurl -X POST {base}/weaknesses/git/on\n\
         curl -X POST {base}/all-off\ncurl -X POST {base}/all-on\n"
    );
    text
}

async fn list_json(State(control): State<Control>) -> Json<Value> {
    let active = control.weaknesses.active();
    let entry = |one: &Weakness| {
        json!({
            "id": one.id,
            "title": one.title,
            "on": active.contains(one.id),
            "vuln_ids": one.kinds,
        })
    };
    Json(ALL.iter().map(entry).collect())
}

async fn set(
    State(control): State<Control>,
    Path((id, verb)): Path<(String, String)>,
) -> (StatusCode, String) {
    let is_active = match verb.as_str() {
        "on" => true,
        "off" => false,
        _ => {
            return (
                StatusCode::NOT_FOUND,
                format!("unknown verb {verb}; use on or off\n"),
            );
        }
    };
    if control.weaknesses.set(&id, is_active) {
        return (StatusCode::OK, format!("{id} is {}\n", word(is_active)));
    }
    let ids: Vec<&str> = ALL.iter().map(|one| one.id).collect();
    (
        StatusCode::NOT_FOUND,
        format!("unknown weakness {id}; use one of {}\n", ids.join(", ")),
    )
}

fn set_all(control: &Control, is_active: bool) -> String {
    control.weaknesses.set_all(is_active);
    format!("{} weaknesses are {}\n", ALL.len(), word(is_active))
}
