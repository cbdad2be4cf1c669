//! Workspaces, targets and wordlists.

use serde_json::json;

use super::{Schema, boolean, choice, count, id, nullable, reference, request, response, text, with};
use crate::contract::TargetType;

pub fn schemas() -> Vec<Schema> {
    vec![workspace(), new_workspace(), edit_workspace(), target_type(), target(), new_target(), wordlist()]
}

fn workspace() -> Schema {
    Schema {
        name: "Workspace",
        schema: response(json!({
            "id": id("Its id."),
            "name": text("Its name, unique without regard to case."),
            "description": text("May be empty."),
            "scan_count": count("Number of its scans."),
            "target_count": count("Number of its targets."),
        })),
        example: json!({"id": 1, "name": "Default", "description": "", "scan_count": 12, "target_count": 3}),
    }
}

fn new_workspace() -> Schema {
    let name = text("Unique without regard to case; blanks at both ends are removed.");
    Schema {
        name: "NewWorkspace",
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
    let name = nullable(text("The new name; absent or null keeps the present one."));
    let schema = request(
        &[],
        json!({
            "name": with(name, json!({"minLength": 1, "maxLength": 200, "pattern": r"\S"})),
            "description": nullable(text("The new description; absent or null keeps the present one.")),
        }),
    );
    let description = "At least one of the two fields is required.";
    Schema {
        name: "EditWorkspace",
        schema: with(schema, json!({"minProperties": 1, "description": description})),
        example: json!({"name": "Shop 2027"}),
    }
}

fn target_type() -> Schema {
    Schema { name: "TargetType", schema: choice(TargetType::KNOWN, "The form of a target."), example: json!("url") }
}

fn target() -> Schema {
    Schema {
        name: "Target",
        schema: response(json!({
            "id": id("Its id."),
            "name": text("The host name, IP address or URL, in canonical form."),
            "type": reference("TargetType"),
            "description": text("May be empty."),
            "workspace_id": id("Its workspace."),
        })),
        example: json!({
            "id": 3, "name": "https://shop.acme.test/", "type": "url", "description": "", "workspace_id": 1
        }),
    }
}

fn new_target() -> Schema {
    let name = text("A host name, an IP address, or an http or https URL.");
    Schema {
        name: "NewTarget",
        schema: request(
            &["name"],
            json!({
                "name": with(name, json!({"minLength": 1})),
                "description": nullable(text("Free text.")),
                "workspace_id": nullable(id("Its workspace; the current one of the service when absent.")),
            }),
        ),
        example: json!({"name": "http://127.0.0.1:8080/", "description": "staging"}),
    }
}

fn wordlist() -> Schema {
    Schema {
        name: "Wordlist",
        schema: response(json!({
            "id": id("Its id."),
            "name": text("Its name."),
            "description": text("May be empty."),
            "num_words": count("Number of words."),
            "predefined": boolean("Comes with the service and cannot be deleted."),
        })),
        example: json!({
            "id": 1, "name": "Common paths", "description": "paths of many web sites", "num_words": 420,
            "predefined": true
        }),
    }
}
