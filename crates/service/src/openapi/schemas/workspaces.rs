//! Workspaces, targets and wordlists.

use serde_json::json;

use super::{Schema, id, nullable, request, response, text, with};
use scandeck_wire::contract::{Target, TargetType, Wordlist, Workspace};

pub fn schemas() -> Vec<Schema> {
    vec![
        response::<Workspace>(json!({
            "id": 1, "name": "Default", "description": "", "scan_count": 12, "target_count": 3
        })),
        new_workspace(),
        edit_workspace(),
        response::<TargetType>(json!("url")),
        response::<Target>(json!({
            "id": 3, "name": "https://shop.acme.test/", "type": "url", "description": "", "workspace_id": 1
        })),
        new_target(),
        response::<Wordlist>(json!({
            "id": 1, "name": "Common paths", "description": "paths of many websites", "num_words": 420,
            "predefined": true
        })),
    ]
}

fn new_workspace() -> Schema {
    let name = text("Unique, case-insensitive; leading and trailing spaces are trimmed.");
    Schema {
        name: "NewWorkspace".into(),
        schema: request(
            &["name"],
            json!({
                "name": with(name, json!({"minLength": 1, "maxLength": 200, "pattern": r"\S"})),
                "description": nullable(text("Free text.")),
            }),
        ),
        example: json!({"name": "Shop", "description": "statement of work 114"}),
    }
}

fn edit_workspace() -> Schema {
    let name = nullable(text("New name; absent or null: unchanged."));
    let schema = request(
        &[],
        json!({
            "name": with(name, json!({"minLength": 1, "maxLength": 200, "pattern": r"\S"})),
            "description": nullable(text("New description; absent or null: unchanged.")),
        }),
    );
    let description = "At least one of the two fields is required.";
    Schema {
        name: "EditWorkspace".into(),
        schema: with(
            schema,
            json!({"minProperties": 1, "description": description}),
        ),
        example: json!({"name": "Shop 2027"}),
    }
}

fn new_target() -> Schema {
    let name = text("A host name, an IP address, or an http or https URL.");
    Schema {
        name: "NewTarget".into(),
        schema: request(
            &["name"],
            json!({
                "name": with(name, json!({"minLength": 1})),
                "description": nullable(text("Free text.")),
                "workspace_id": nullable(id("Default: the current workspace (`serve --current-workspace`).")),
            }),
        ),
        example: json!({"name": "http://127.0.0.1:8080/", "description": "staging"}),
    }
}
