//! A folder as the first version wrote it, which later versions must open.

use std::fs;

use futures::future::join_all;
use rusqlite::Connection;

use super::file::DATABASE;
use super::tests::{open, sql};
use crate::clock::ManualClock;
use crate::domain::PromptKind;
use crate::store::contract_tests::{StoreUnderTest, new_prompt};
use crate::store::prelude::*;

/// The records of a folder of version 1, as SQL. With `UPDATE_EXPECT` it is written again, which is
/// right only before the first release: later versions must open this one.
#[tokio::test]
async fn a_folder_of_version_1_is_opened() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/folder_version_1.sql");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(FILE, records_of_every_kind().await).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    sql(&folder.path().join(DATABASE), &fs::read_to_string(FILE).unwrap());
    let store = open(folder.path(), &ManualClock::new(jiff::Timestamp::UNIX_EPOCH));
    store.check_invariants();
    let key = store.find_key("key-of-alice", &[7; 32]).await.unwrap().unwrap();
    let vaults = store.vaults(&key.caller()).await.unwrap();
    let counts: Vec<_> = vaults.iter().map(|vault| (&*vault.name, vault.prompt_count)).collect();
    assert_eq!(counts, [("Sky", 2), ("General", 2)]);
    let states = ["queued", "completed", "failed", "lost"].map(|name| {
        let key = key.caller();
        let store = &store;
        async move { store.job(&key, name).await.map(|job| job.state.ticket().is_some()) }
    });
    let states = join_all(states).await.into_iter().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(states, [true, true, true, false]);
    let session = store.find_session([3; 32]).await.unwrap().unwrap();
    assert_eq!(&*session.account_name, "alice");
    assert!(store.sign_in([4; 32], [5; 32], None).await.unwrap().is_some());
    let key = store.find_key("revoked", &[7; 32]).await.unwrap().unwrap();
    assert!(key.is_revoked());
    assert_eq!(store.last_public_url().await.unwrap().as_deref(), Some("https://example.com"));
}

async fn records_of_every_kind() -> String {
    use crate::domain::{Membership, NewKey};
    use crate::store::contract_tests::jobs::{claim, image, new, reserved, ticket};
    let db = StoreUnderTest::folder();
    let (store, alice) = (&db.store, db.caller("alice").await);
    let new_image = new_prompt(PromptKind::Image, None);
    let picture = store.create_prompt(&alice, new_image).await.unwrap().id;
    let text = db.prompt(&alice, Some(db.general(&alice).await.id)).await.id;
    let sky = db.public(&alice, &[picture, text]).await;
    let members = store.memberships_of(&alice, sky, &[picture]).await.unwrap();
    store.set_pinned(&alice, Membership { vault: sky, id: members[0] }, true).await.unwrap();
    let revoked = NewKey { revoked: true, ..crate::store::contract_tests::key("revoked") };
    store.seed_key("alice", revoked).await.unwrap();
    store.create_sign_in_code("alice", [2; 32]).await.unwrap();
    store.sign_in([2; 32], [3; 32], Some("Firefox")).await.unwrap().unwrap();
    store.create_sign_in_code("alice", [4; 32]).await.unwrap();
    store.set_last_public_url("https://example.com").await.unwrap();
    let mut keys = Vec::new();
    for name in ["completed", "failed", "queued", "lost", "submitting"] {
        keys.push(reserved(&**store, &alice, new(name, 1, None)).await.key);
    }
    store.job_lost(&keys[3], "a reason").await.unwrap();
    for key in &keys[..3] {
        store.job_submitted(key, ticket()).await.unwrap();
    }
    for _ in 0..2 {
        let claim = claim(&**store).await.unwrap();
        match &*claim.job.key.client_job_id {
            "failed" => store.fail_job(&claim.lease, "a reason").await.unwrap(),
            _ => {
                let request = claim.job.request;
                store.complete_job(&claim.lease, &request, vec![image()]).await.unwrap();
            }
        }
    }
    let crate::store::contract_tests::Kind::Folder(_, folder) = &db.kind else {
        panic!("a folder")
    };
    let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
    let mut select = connection.prepare("SELECT number, kind, value FROM record").unwrap();
    let rows = select.query_map([], |row| {
        let value: String = row.get(2)?;
        let (number, kind): (i64, String) = (row.get(0)?, row.get(1)?);
        Ok(format!(
            "INSERT INTO record VALUES ({number}, '{kind}', '{}');\n",
            value.replace('\'', "''")
        ))
    });
    let rows: String = rows.unwrap().map(Result::unwrap).collect();
    format!(
        "CREATE TABLE record (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL) STRICT;\n\
         PRAGMA application_id = 1349676404;\nPRAGMA user_version = 1;\n{rows}"
    )
}
