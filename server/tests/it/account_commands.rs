//! The commands that rename, delete, export and import accounts, and end sessions.

use promptarium_server::test_support::ScratchDatabase;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::support::browser::sign_in_request;
use crate::support::client::Connection;
use crate::support::program::{Running, failure, run};

/// What an export must not have changed, without what differs from import to import.
fn comparable(export: &str) -> Value {
    let mut export: Value = serde_json::from_str(export).unwrap();
    for field in ["account", "exportedAt"] {
        export[field] = Value::Null;
    }
    let prompts = export["prompts"].as_array_mut().unwrap();
    let ids: Vec<_> = prompts.iter_mut().map(|prompt| prompt["id"].take()).collect();
    let vaults = export["vaults"].as_array_mut().unwrap();
    for vault in &mut *vaults {
        for member in vault["prompts"].as_array_mut().unwrap() {
            member["id"] = json!(ids.iter().position(|id| *id == member["id"]));
        }
        if vault["isSystem"] == true {
            vault["createdAt"] = Value::Null;
            vault["updatedAt"] = Value::Null;
        }
    }
    // General is older or younger than what is imported.
    vaults.sort_by_key(|vault| vault["name"].to_string());
    export
}

/// A server with an account `alice` that has two vaults and two prompts, a key of it, and the id
/// of its older prompt.
async fn filled(url: &str) -> (Running, String, Value) {
    run(url, "account create alice").await;
    let key = run(url, "key create --account alice").await.stdout.trim().to_owned();
    let server = Running::on(url, "").await;
    let mut connection = Connection::to(&server).await;
    let mut send = async |method: &str, path: &str, body: Value| {
        let response = connection.api(&key, method, path, Some(&body.to_string())).await;
        assert!(response.status < 300, "{path} {body}: {response:?}");
        response.data()
    };
    let general = send("GET", "/vaults", json!({})).await[0]["id"].clone();
    let sky = json!({ "name": "Night sky", "description": "Stars", "visibility": "unlisted" });
    let sky = send("POST", "/vaults", sky).await["id"].clone();
    let mut ids = Vec::new();
    for number in 1..=2 {
        let prompt = json!({
            "title": format!("Prompt {number}"), "prompt": "A \"quoted\" \u{1F98A}\ntext",
            "promptType": "image", "modelId": "local/plasma", "aspectRatio": "1:1", "vaultId": sky,
            "referenceMediaUrls": ["https://example.com/a.png"],
        });
        ids.push(send("POST", "/prompts", prompt).await["id"].clone());
    }
    let second = json!({ "promptIds": [ids[1]] });
    send("POST", &format!("/vaults/{general}/prompts"), second).await;
    let contents = format!("/vaults/{sky}/prompts");
    let oldest = send("GET", &contents, json!({})).await[1]["vaultPromptId"].clone();
    send("POST", &format!("{contents}/{oldest}/pin"), json!({})).await;
    (server, key, ids[0].clone())
}

#[tokio::test]
async fn an_export_is_imported_as_it_was() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    let (_server, _, oldest) = filled(url).await;
    let export = run(url, "account export alice").await;
    assert_eq!((export.code, &*export.stderr), (Some(0), ""));
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &export.stdout).unwrap();
    let path = file.path().to_str().unwrap();

    run(url, "account create bob").await;
    let imported = run(url, &format!("account import bob {path} --json")).await.json();
    assert_eq!(imported, json!({ "account": "bob", "prompts": 2, "vaults": 2 }));
    let again = run(url, "account export bob").await;
    assert_eq!(comparable(&again.stdout), comparable(&export.stdout));
    let line = failure(url, &format!("account import nobody {path}"), 1).await;
    assert!(line.contains("there is no account nobody"), "{line}");
    let line = failure(url, "account import alice /no/such/file", 2).await;
    assert!(line.contains("/no/such/file cannot be read"), "{line}");
    // The dashboard's test has each fault of a document.
    std::fs::write(path, export.stdout.replacen(r#""version":1"#, r#""version":2"#, 1)).unwrap();
    let line = failure(url, &format!("account import bob {path}"), 1).await;
    for part in [path, "version: must be 1 to 1, but is 2", "nothing is imported"] {
        assert!(line.contains(part), "{line}");
    }
    let document: Value = serde_json::from_str(&export.stdout).unwrap();
    assert_eq!(
        (&document["format"], &document["version"]),
        (&json!("promptarium-account"), &json!(1))
    );
    let pinned = json!({ "id": oldest, "isPinned": true });
    assert_eq!(document["vaults"][1]["prompts"][0], pinned);
}

#[tokio::test]
async fn an_account_is_renamed_and_deleted_while_a_server_runs() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    let (server, key, _) = filled(url).await;
    let mut connection = Connection::to(&server).await;
    let mut status = async || connection.api(&key, "GET", "/prompts", None).await.status;
    run(url, "account create bob").await;
    let line = failure(url, "account rename alice bob", 1).await;
    assert!(line.contains("bob already exists"), "{line}");
    let renamed = run(url, "account rename alice carol --json").await.json();
    assert_eq!(renamed, json!({ "account": "carol", "former_name": "alice" }));
    assert_eq!(status().await, 200);

    let line = failure(url, "account delete carol", 1).await;
    assert!(line.contains("--yes") && line.contains("account export carol"), "{line}");
    assert_eq!(status().await, 200);
    let deleted = run(url, "account delete carol --yes").await;
    assert_eq!((deleted.code, &*deleted.stdout), (Some(0), "deleted account carol\n"));
    assert_eq!(status().await, 401);
    let accounts = run(url, "account list --json").await.json();
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 1, "{accounts}");
    assert_eq!(run(url, "key list --json").await.json(), json!({ "keys": [] }));
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    let server = Running::on(url, "").await;
    let mut connection = Connection::to(&server).await;
    assert_eq!(connection.ask(sign_in_request(server.code(), "")).await.status, 303);
    let list = async || run(url, "session list default --json").await.json();
    assert_eq!(list().await["sessions"].as_array().unwrap().len(), 1);
    let line = failure(url, "session end default", 2).await;
    assert!(line.contains("missing"), "{line}");
    let ended = run(url, "session end default --all --json").await.json();
    assert_eq!(ended["ended"].as_array().unwrap().len(), 1, "{ended}");
    assert_eq!(list().await, json!({ "sessions": [] }));
}
