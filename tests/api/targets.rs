//! Targets.

use scandeck::client::{ErrorKind, TargetQuery};
use scandeck::contract::target_tags::TagChange;
use scandeck::contract::{NewTarget, TargetId, TargetType, WorkspaceId};

use super::{assert_refused, client, create_target, start_scan};
use crate::service::TestService;

#[tokio::test]
async fn tags_of_target_are_changed_and_read_with_it() {
    let service = TestService::new().await;
    let client = client(&service);
    let id = create_target(&client, "127.0.0.1").await;
    assert!(client.get_target(id).await.unwrap().tags.is_empty());
    let change = TagChange::parse(["prod", "web"]).unwrap();
    let tags = client.change_target_tags(id, &change).await.unwrap();
    assert_eq!(tags, ["prod", "web"]);
    let change = TagChange::parse(["-web"]).unwrap();
    client.change_target_tags(id, &change).await.unwrap();
    assert_eq!(client.get_target(id).await.unwrap().tags, ["prod"]);
    let missing = client.change_target_tags(TargetId(99), &change).await;
    assert_eq!(missing.unwrap_err().kind, ErrorKind::NotFound);
    service.stop().await;
}

#[tokio::test]
async fn target_created_lists_by_each_parameter_and_deletes() {
    let service = TestService::new().await;
    let client = client(&service);
    let new = NewTarget {
        name: "http://localhost:8080/a?b=c".into(),
        description: Some("d".into()),
        workspace_id: Some(WorkspaceId(1)),
    };
    let url = client.create_target(&new).await.unwrap();
    let target = client.get_target(url).await.unwrap();
    assert_eq!(
        (
            target.kind,
            target.description.as_str(),
            target.workspace_id
        ),
        (TargetType::Url, "d", WorkspaceId(1))
    );
    let address = create_target(&client, "127.0.0.1").await;
    let list = async |query: TargetQuery| {
        client
            .list_targets(&query)
            .await
            .unwrap()
            .into_iter()
            .map(|target| target.id)
            .collect::<Vec<_>>()
    };
    let of_kind = TargetQuery {
        kind: Some(TargetType::IpAddress),
        ..TargetQuery::default()
    };
    assert_eq!(list(of_kind).await, [address]);
    let of_workspace = |id| TargetQuery {
        workspace_id: Some(WorkspaceId(id)),
        ..TargetQuery::default()
    };
    assert_eq!(
        (
            list(of_workspace(1)).await.len(),
            list(of_workspace(99)).await.len()
        ),
        (2, 0)
    );
    let page = |page| TargetQuery {
        limit: Some(1),
        page: Some(page),
        ..TargetQuery::default()
    };
    let (first, second, third) = (
        list(page(1)).await,
        list(page(2)).await,
        list(page(3)).await,
    );
    assert_eq!((first.len(), second.len(), third.len()), (1, 1, 0));
    assert_ne!(first, second);
    assert_eq!(
        client
            .list_all_targets(&TargetQuery::default())
            .await
            .unwrap()
            .len(),
        2
    );
    client.delete_target(url).await.unwrap();
    assert_refused(
        client.get_target(url).await,
        ErrorKind::NotFound,
        404,
        "target",
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_target_requests_return_documented_errors() {
    let service = TestService::with(|settings| settings.max_targets = 2).await;
    let client = client(&service);
    let create = async |name: &str, workspace| {
        let new = NewTarget {
            name: name.into(),
            workspace_id: workspace,
            ..NewTarget::default()
        };
        client.create_target(&new).await
    };
    assert_refused(
        create("10.0.0.0/8", None).await,
        ErrorKind::Invalid,
        400,
        "use one address per target",
    );
    assert_refused(
        create("198.51.100.7", None).await,
        ErrorKind::Forbidden,
        403,
        "scandeck scope add",
    );
    assert_refused(
        create("localhost", Some(WorkspaceId(99))).await,
        ErrorKind::NotFound,
        404,
        "workspace",
    );
    let first = create("localhost", None).await.unwrap();
    assert_refused(
        create("LOCALHOST.", None).await,
        ErrorKind::Conflict,
        409,
        "exists",
    );
    start_scan(&client, first).await;
    assert_refused(
        client.delete_target(first).await,
        ErrorKind::Conflict,
        409,
        "scan",
    );
    create("127.0.0.1", None).await.unwrap();
    assert_refused(
        create("127.0.0.2", None).await,
        ErrorKind::Forbidden,
        403,
        "2",
    );
    assert_refused(
        client.delete_target(TargetId(99)).await,
        ErrorKind::NotFound,
        404,
        "target",
    );
    let limit = TargetQuery {
        limit: Some(0),
        ..TargetQuery::default()
    };
    assert_refused(
        client.list_targets(&limit).await,
        ErrorKind::Invalid,
        400,
        "limit",
    );
    service.stop().await;
}
