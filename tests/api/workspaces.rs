//! Workspaces.

use scandeck::client::ErrorKind;
use scandeck::contract::{EditWorkspace, NewWorkspace, WorkspaceId};

use super::{assert_refused, client, client_of, create_target};
use crate::service::TestService;

#[tokio::test]
async fn check_with_wrong_key_is_unauthorized() {
    let service = TestService::new().await;
    client(&service).list_workspaces().await.unwrap();
    assert_refused(
        client_of(&service.base, "wrong").list_workspaces().await,
        ErrorKind::Unauthorized,
        401,
        "key",
    );
    // Another path on the same host: the service reports an unknown path in its error body.
    let elsewhere = client_of(&service.base.replace("/api/v2", "/other"), &service.key);
    assert!(elsewhere.list_workspaces().await.is_err());
    service.stop().await;
}

#[tokio::test]
async fn workspace_created_edits_lists_and_deletes() {
    let service = TestService::new().await;
    let client = client(&service);
    let new = NewWorkspace {
        name: "Acme & Söhne = 100%".into(),
        description: Some("a+b\nc".into()),
    };
    let id = client.create_workspace(&new).await.unwrap();
    let created = client.get_workspace(id).await.unwrap();
    assert_eq!(
        (created.name.as_str(), created.description.as_str()),
        (new.name.as_str(), "a+b\nc")
    );
    let edit = EditWorkspace {
        name: None,
        description: Some("other".into()),
    };
    client.edit_workspace(id, &edit).await.unwrap();
    let listed = client.list_workspaces().await.unwrap();
    assert_eq!(
        listed
            .iter()
            .find(|workspace| workspace.id == id)
            .unwrap()
            .description,
        "other"
    );
    client.delete_workspace(id).await.unwrap();
    assert_refused(
        client.get_workspace(id).await,
        ErrorKind::NotFound,
        404,
        "workspace",
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_workspace_requests_return_documented_errors() {
    let service = TestService::new().await;
    let client = client(&service);
    let new = |name: &str| NewWorkspace {
        name: name.into(),
        description: None,
    };
    assert_refused(
        client.create_workspace(&new(" ")).await,
        ErrorKind::Invalid,
        400,
        "name",
    );
    let id = client.create_workspace(&new("One")).await.unwrap();
    assert_refused(
        client.create_workspace(&new(" one ")).await,
        ErrorKind::Conflict,
        409,
        "one",
    );
    assert_refused(
        client.edit_workspace(id, &EditWorkspace::default()).await,
        ErrorKind::Invalid,
        400,
        "description",
    );
    let edit = EditWorkspace {
        name: Some("default".into()),
        description: None,
    };
    assert_refused(
        client.edit_workspace(id, &edit).await,
        ErrorKind::Conflict,
        409,
        "default",
    );
    assert_refused(
        client.delete_workspace(WorkspaceId(1)).await,
        ErrorKind::Conflict,
        409,
        "current",
    );
    assert_refused(
        client.delete_workspace(WorkspaceId(99)).await,
        ErrorKind::NotFound,
        404,
        "workspace",
    );
    assert_refused(
        client.edit_workspace(WorkspaceId(99), &edit).await,
        ErrorKind::NotFound,
        404,
        "workspace",
    );
    service.stop().await;
}

#[tokio::test]
async fn workspace_counts_after_scan_start_include_target_and_scan() {
    let service = TestService::new().await;
    let client = client(&service);
    let target = create_target(&client, "127.0.0.1").await;
    super::start_scan(&client, target).await;
    let workspace = client.get_workspace(WorkspaceId(1)).await.unwrap();
    assert_eq!((workspace.target_count, workspace.scan_count), (1, 1));
    service.stop().await;
}
