//! Workspaces.

use scandeck::client::ErrorKind;
use scandeck::contract::{EditWorkspace, NewWorkspace, WorkspaceId};

use super::{assert_refused, client, client_of, target};
use crate::service::TestService;

#[tokio::test]
async fn the_check_tells_a_good_key_from_a_wrong_one_and_from_no_service() {
    let service = TestService::new().await;
    client(&service).check().await.unwrap();
    assert_refused(client_of(&service.base, "wrong").check().await, ErrorKind::Unauthorized, 401, "key");
    // The same host, another path: the service says that it has no such path, in its own error body.
    let elsewhere = client_of(&service.base.replace("/api/v2", "/other"), &service.key);
    assert!(elsewhere.list_workspaces().await.is_err());
    service.stop().await;
}

#[tokio::test]
async fn a_workspace_is_made_edited_looked_up_listed_and_deleted() {
    let service = TestService::new().await;
    let client = client(&service);
    let new = NewWorkspace { name: "Acme & Söhne = 100%".into(), description: Some("a+b\nc".into()) };
    let id = client.create_workspace(&new).await.unwrap();
    let made = client.get_workspace(id).await.unwrap();
    assert_eq!((made.name.as_str(), made.description.as_str()), (new.name.as_str(), "a+b\nc"));
    let edit = EditWorkspace { name: None, description: Some("other".into()) };
    client.edit_workspace(id, &edit).await.unwrap();
    let listed = client.list_workspaces().await.unwrap();
    assert_eq!(listed.iter().find(|workspace| workspace.id == id).unwrap().description, "other");
    client.delete_workspace(id).await.unwrap();
    assert_refused(client.get_workspace(id).await, ErrorKind::NotFound, 404, "workspace");
    service.stop().await;
}

#[tokio::test]
async fn the_documented_refusals_of_workspaces() {
    let service = TestService::new().await;
    let client = client(&service);
    let new = |name: &str| NewWorkspace { name: name.into(), description: None };
    assert_refused(client.create_workspace(&new(" ")).await, ErrorKind::Invalid, 400, "name");
    let id = client.create_workspace(&new("One")).await.unwrap();
    assert_refused(client.create_workspace(&new(" one ")).await, ErrorKind::Conflict, 409, "one");
    assert_refused(client.edit_workspace(id, &EditWorkspace::default()).await, ErrorKind::Invalid, 400, "description");
    let edit = EditWorkspace { name: Some("default".into()), description: None };
    assert_refused(client.edit_workspace(id, &edit).await, ErrorKind::Conflict, 409, "default");
    assert_refused(client.delete_workspace(WorkspaceId(1)).await, ErrorKind::Conflict, 409, "current");
    assert_refused(client.delete_workspace(WorkspaceId(99)).await, ErrorKind::NotFound, 404, "workspace");
    assert_refused(client.edit_workspace(WorkspaceId(99), &edit).await, ErrorKind::NotFound, 404, "workspace");
    service.stop().await;
}

#[tokio::test]
async fn the_counts_of_a_workspace_follow() {
    let service = TestService::new().await;
    let client = client(&service);
    let made = target(&client, "127.0.0.1").await;
    super::scan(&client, made).await;
    let workspace = client.get_workspace(WorkspaceId(1)).await.unwrap();
    assert_eq!((workspace.target_count, workspace.scan_count), (1, 1));
    service.stop().await;
}
