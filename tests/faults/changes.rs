//! Changes whose response is lost: nothing is repeated that could delete or create twice, and a
//! read decides.

use scandeck::contract::{NewScan, NewTarget};

use super::Misbehaving;
use crate::faulty::sample_data::{WORKSPACE, hit};

/// Faults of a request that was carried out.
const CARRIED_OUT: [&str; 5] = ["504-after", "500-after", "reset-after", "empty", "cut"];
/// Faults of a request that was not.
const NOT_CARRIED_OUT: [&str; 5] = ["503", "502", "reset", "close", "html"];

#[tokio::test]
async fn clear_is_sent_once_and_decided_by_reading() {
    let service = Misbehaving::start().await;
    let (client, witness) = (service.client(), service.witness());
    let (id, url) = service.loggers[0].clone();
    for (number, fault) in NOT_CARRIED_OUT.into_iter().enumerate() {
        service.fault(&format!("DELETE /http_loggers/*/data {fault}"));
        let error = client.clear_captures(id, 3).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{fault}: {error}");
        assert_eq!(service.count("DELETE", "*"), number + 1, "{fault}");
        assert_eq!(
            witness.list_captures(id, None).await.unwrap().len(),
            3,
            "{fault}"
        );
    }
    let before = service.count("DELETE", "*");
    for (number, fault) in ["504-after", "500-after", "reset-after"]
        .into_iter()
        .enumerate()
    {
        let count = witness.get_logger(id).await.unwrap().num_requests;
        service.fault(&format!("DELETE /http_loggers/*/data {fault}"));
        client
            .clear_captures(id, count)
            .await
            .unwrap_or_else(|error| panic!("{fault}: {error}"));
        assert_eq!(service.count("DELETE", "*"), before + number + 1, "{fault}");
        assert_eq!(
            witness.list_captures(id, None).await.unwrap().len(),
            0,
            "{fault}"
        );
        hit(&url, number).await;
    }
    service.fault("DELETE /http_loggers/* 504-after");
    client.delete_logger(id).await.unwrap();
    assert_eq!(service.count("DELETE", "*"), before + 4);
    service.stop().await;
}

#[tokio::test]
async fn scan_of_other_target_is_not_mistaken_for_lost_one() {
    let service = Misbehaving::start().await;
    let (client, witness) = (service.client(), service.witness());
    let new = NewScan {
        tool_id: 70,
        target_name: Some("192.0.2.7".into()),
        workspace_id: Some(WORKSPACE),
        ..NewScan::default()
    };
    service.fault("POST /scans empty-only");
    let other = async {
        while service.count("POST", "/scans") == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let target = witness.list_all_targets(&Default::default()).await.unwrap()[0].id;
        let other = NewScan {
            target_id: Some(target),
            target_name: None,
            ..new.clone()
        };
        witness.create_scan(&other).await.unwrap()
    };
    let (created, _) = tokio::join!(client.create_scan(&new), other);
    let error = created.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    service.stop().await;
}

#[tokio::test]
async fn scan_with_lost_response_is_identified_in_the_list() {
    let service = Misbehaving::start().await;
    let (client, witness) = (service.client(), service.witness());
    let target = witness.list_all_targets(&Default::default()).await.unwrap()[0].id;
    let new = NewScan {
        tool_id: 70,
        target_id: Some(target),
        workspace_id: Some(WORKSPACE),
        ..NewScan::default()
    };
    let newest = async || {
        witness
            .list_all_scans(&Default::default())
            .await
            .unwrap()
            .into_iter()
            .map(|scan| scan.id)
            .max()
    };
    for fault in CARRIED_OUT {
        let before = newest().await;
        service.fault(&format!("POST /scans {fault}"));
        let created = client
            .create_scan(&new)
            .await
            .unwrap_or_else(|error| panic!("{fault}: {error}"));
        assert!(created.created_id > before, "{fault}");
        assert_eq!(created.created_id, newest().await, "{fault}");
    }
    for fault in NOT_CARRIED_OUT {
        let before = newest().await;
        service.fault(&format!("POST /scans {fault}"));
        let error = client.create_scan(&new).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{fault}: {error}");
        assert_eq!(newest().await, before, "{fault}");
    }
    for fault in ["403", "404", "422", "409", "redirect"] {
        service.fault(&format!("POST /scans {fault}"));
        let error = client.create_scan(&new).await.unwrap_err();
        assert!(!error.is_outcome_unknown(), "{fault}: {error}");
    }
    service.stop().await;
}

#[tokio::test]
async fn stop_with_lost_response_is_decided_by_reading() {
    for (fault, is_stopped) in [
        ("504-after", true),
        ("reset-after", true),
        ("503", false),
        ("403", false),
    ] {
        let service = Misbehaving::start().await;
        let scans = service
            .witness()
            .list_all_scans(&Default::default())
            .await
            .unwrap();
        let running = scans.iter().find(|scan| scan.is_active()).unwrap().id;
        service.fault(&format!("POST /scans/*/stop {fault}"));
        let stopped = service.client().stop_scan(running).await;
        assert_eq!(stopped.is_ok(), is_stopped, "{fault}: {stopped:?}");
        assert_eq!(service.count("POST", "/scans/*/stop"), 1, "{fault}");
        service.stop().await;
    }
}

#[tokio::test]
async fn creation_without_id_has_unknown_outcome() {
    let service = Misbehaving::start().await;
    let client = service.client();
    for (number, fault) in CARRIED_OUT.into_iter().enumerate() {
        service.fault(&format!("POST * {fault}"));
        let target = NewTarget {
            name: format!("127.0.0.{}", 20 + number),
            ..NewTarget::default()
        };
        assert!(
            client
                .create_target(&target)
                .await
                .unwrap_err()
                .is_outcome_unknown(),
            "{fault}"
        );
        let error = client
            .create_logger(&format!("probe-{number}"), Some(WORKSPACE))
            .await
            .unwrap_err();
        assert!(error.is_outcome_unknown(), "{fault}: {error}");
        assert_eq!(
            service.count("POST", "/targets"),
            number + 1,
            "a creation is never repeated"
        );
    }
    service.stop().await;
}
