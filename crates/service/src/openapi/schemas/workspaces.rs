//! Workspaces, targets and wordlists.

use serde_json::json;

use super::{
    Schema, boolean, choice, count, id, nullable, reference, request, response, text, with,
};
use scandeck_wire::contract::TargetType;

pub fn schemas() -> Vec<Schema> {
    vec![
        workspace(),
        new_workspace(),
        edit_workspace(),
        target_type(),
        target(),
        new_target(),
        wordlist(),
    ]
}

fn workspace() -> Schema {
    Schema {
        name: "Workspace",
        schema: response(json!({
            "id": id("Id of the workspace."),
            "name": text("Unique, case-insensitive."),
            "description": text("May be empty."),
            "scan_count": count("Number of scans."),
            "target_count": count("Number of targets."),
        })),
        example: json!({"id": 1, "name": "Default", "description": "", "scan_count": 12, "target_count": 3}),
    }
}

fn new_workspace() -> Schema {
    let name = text("Unique, case-insensitive; leading and trailing spaces are trimmed.");
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
        name: "EditWorkspace",
        schema: with(
            schema,
            json!({"minProperties": 1, "description": description}),
        ),
        example: json!({"name": "Shop 2027"}),
    }
}

fn target_type() -> Schema {
    Schema {
        name: "TargetType",
        schema: choice(TargetType::KNOWN, "The type of a target."),
        example: json!("url"),
    }
}

fn target() -> Schema {
    Schema {
        name: "Target",
        schema: response(json!({
            "id": id("Id of the target."),
            "name": text("The host name, IP address or URL, in canonical form."),
            "type": reference("TargetType"),
            "description": text("May be empty."),
            "workspace_id": id("Id of the workspace."),
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
                "workspace_id": nullable(id("Default: the current workspace (`serve --current-workspace`).")),
            }),
        ),
        example: json!({"name": "http://127.0.0.1:8080/", "description": "staging"}),
    }
}

fn wordlist() -> Schema {
    Schema {
        name: "Wordlist",
        schema: response(json!({
            "id": id("Id of the wordlist."),
            "name": text("Name of the wordlist."),
            "description": text("May be empty."),
            "num_words": count("Number of words."),
            "predefined": boolean("Comes with the service and cannot be deleted."),
        })),
        example: json!({
            "id": 1, "name": "Common paths", "description": "paths of many websites", "num_words": 420,
            "predefined": true
        }),
    }
}
