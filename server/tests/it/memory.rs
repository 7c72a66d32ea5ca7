//! What takes little memory however large it is: outputs of providers, and lists of vaults.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::support::client::{Slot, call};
use crate::support::program::Running;
use crate::support::{TIMEOUT, files, folder_store, provider, wait_until};

const MIB: usize = 1 << 20;

#[tokio::test]
async fn an_output_of_500_mib_is_stored_with_little_memory_and_was_ordered_once() {
    let database = ScratchDatabase::create().await.unwrap();
    let database = format!("--database-url={}", database.url());
    let both = [vec![], vec![database.as_str()]].map(async |further| {
        let folder = TempDir::new().unwrap();
        let url = format!("--provider-url={}", provider::url());
        let blobs = format!("--blob-store={}", folder_store(&folder));
        let arguments = [&["--provider=queue", "--provider-key=k", &url, &blobs], &further[..]];
        let server = Running::start(&arguments.concat()).await;
        let body = json!({"modelId": "acme/video", "prompt": "p", "generationType": "video",
            "clientJobId": "j"});
        for _ in 0..2 {
            let body = body.to_string();
            assert_eq!(call(&server, "POST", "/generations", Some(&body)).await.status, 202);
        }
        let has_ended = async || {
            let status = call(&server, "GET", "/generations/j/status", None).await.data();
            assert_ne!(status["status"], "failed", "{status}");
            status["status"] == "completed"
        };
        wait_until(2 * TIMEOUT, has_ended).await.expect("an end in time");
        let files = files(&folder);
        assert_eq!(files.len(), 1, "{files:?}");
        let file = std::fs::metadata(folder.path().join("videos").join(&files[0])).unwrap();
        assert_eq!(file.len(), (provider::VIDEO_MIB * MIB) as u64);
        let peak = server.peak_mib();
        println!("peak: {peak} MiB");
        assert!(peak <= 128, "{peak} MiB");
    });
    join_all(both).await;
    assert_eq!(provider::requests("POST", "video"), 2, "one for each server");
}

#[tokio::test]
async fn as_many_vaults_as_an_account_may_have_fit_into_one_response_and_the_memory() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = database.url();
    let flags = ["--blob-store=memory:", "--log=error", "--database-url", &url];
    let server = Running::start(&flags).await;
    let (sql, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    // Characters of the most bytes in JSON.
    let insert = "INSERT INTO vault (account_id, name, description, visibility, slug, created_at, \
                  updated_at) SELECT a.id, repeat(chr(1), 50), repeat(chr(1), 200), 'private', \
                  'v-' || n, now(), now() FROM account a, generate_series(2, 10000) n";
    assert_eq!(sql.execute(insert, &[]).await.unwrap(), 9_999);

    let body = r#"{"name":"Sky"}"#;
    let refused = call(&server, "POST", "/vaults", Some(body)).await;
    assert_eq!(refused.status, 400, "{}", refused.body);

    let vaults = async || call(&server, "GET", "/vaults", None).await;
    let listed = vaults().await;
    assert_eq!(listed.json()["data"].as_array().unwrap().len(), 10_000);
    let bytes = listed.bytes.len();
    assert!(bytes > 16 * MIB, "{bytes}");
    let all = join_all((0..24).map(|_| vaults())).await;
    // Others exceed the account's share of the memory, or of the lists that are read at once.
    let statuses: BTreeSet<_> = all.iter().map(|response| response.status).collect();
    assert!(statuses.is_subset(&[200, 429, 503].into()), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
    let peak = server.peak_mib();
    println!("peak: {peak} MiB, {bytes} bytes, {statuses:?}");
    assert!(peak <= 256, "{peak} MiB");
}

#[tokio::test]
async fn unfinished_uploads_of_one_key_into_the_memory_take_no_more_than_its_share() {
    const UPLOADS: usize = 40;
    const SIZE: usize = 10 * MIB;
    let server = Running::start(&["--blob-store=memory:", "--log=error"]).await;
    let bytes = vec![7; SIZE - 1];
    let (mut held, mut taken) = (Vec::new(), 0);
    for _ in 0..UPLOADS {
        let mut connection = Slot::to(&server, SIZE).await.begin(SIZE).await;
        connection.send(&bytes).await;
        // An upload lacks its last byte, and a refused one is answered.
        match timeout(Duration::from_millis(20), connection.response()).await {
            Ok(response) => assert_eq!(response.map_or(429, |refused| refused.status), 429),
            Err(_) => taken += 1,
        }
        held.push(connection);
    }
    let peak = server.peak_mib();
    println!("peak: {peak} MiB with {taken} of {UPLOADS} uploads of one key");
    assert!(peak <= 200, "{peak} MiB");
    assert!(taken > 0);
}
