//! The OpenAPI document of a service: it says what the service accepts beyond the contract.

use serde_json::Value;

use super::{Client, ClientResult, RawRequest, RequestBody};
use scandeck_wire::contract::scan::ONLY_TESTS;

impl Client {
    /// The document; `None` if it is no JSON.
    ///
    /// # Errors
    /// Those of the service, such as 404 without a document.
    pub(super) async fn document(&self) -> ClientResult<Option<Value>> {
        let request = RawRequest {
            method: "GET".to_owned(),
            path: "/openapi.json".to_owned(),
            query: Vec::new(),
            body: RequestBody::Empty,
        };
        Ok(serde_json::from_slice(&self.send_raw(request).await?).ok())
    }

    /// Whether scans can run single tests.
    ///
    /// # Errors
    /// Those of the service, such as 404 without a document.
    pub async fn selects_tests(&self) -> ClientResult<bool> {
        let document = self.document().await?;
        Ok(document.is_some_and(|document| has_selection(&document)))
    }
}

/// Whether a schema of the parameters of a tool has the selection.
fn has_selection(document: &Value) -> bool {
    let schemas = document.pointer("/components/schemas");
    let mut all = schemas.and_then(Value::as_object).into_iter().flatten();
    all.any(|(_, schema)| !schema["properties"][ONLY_TESTS].is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selection_of_tests_is_a_property_of_a_schema() {
        let document = |properties: Value| {
            let schemas =
                json!({"Other": {"type": "string"}, "TlsParams": {"properties": properties}});
            json!({"components": {"schemas": schemas}})
        };
        assert!(has_selection(&document(json!({"only_tests": {}}))));
        assert!(!has_selection(&document(json!({"port": {}}))));
        for other in [json!({}), json!([1]), json!({"components": {"schemas": 1}})] {
            assert!(!has_selection(&other), "{other}");
        }
    }
}
