//! The commands that look after a database, as an operator or a script uses them.

use std::ffi::OsStr;

use promptarium_server::store::postgres::scratch::ScratchDatabase;
use serde_json::{Value, json};

use crate::support::client::{Connection, request};
use crate::support::program::{Running, output, program};

/// What a command said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Said {
    fn json(&self) -> Value {
        assert_eq!((self.code, self.stdout.matches('\n').count()), (Some(0), 1), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs a command on a database, whose address it finds in its environment.
async fn run(url: &str, arguments: &[&str]) -> Said {
    let variables = [("PROMPTARIUM_DATABASE_URL", OsStr::new(url))];
    let output = output(program(arguments, &variables)).await;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

async fn refused(url: &str, arguments: &[&str], code: i32) -> String {
    let said = run(url, arguments).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(code), ""), "{said:?}");
    assert_eq!(said.stderr.matches('\n').count(), 1, "{said:?}");
    said.stderr
}

#[tokio::test]
async fn migrating_twice_does_it_once() {
    let database = ScratchDatabase::empty().await.unwrap();
    let line = refused(&database.url(), &["account", "list", "--migrate=off"], 2).await;
    assert!(line.contains("PROMPTARIUM_DATABASE_URL") && line.contains("migrate"), "{line}");
    let first = run(&database.url(), &["migrate", "--json"]).await.json();
    assert!(!first["applied"].as_array().unwrap().is_empty(), "{first}");
    let again = run(&database.url(), &["migrate", "--json"]).await.json();
    assert_eq!(again, json!({ "applied": [] }));
    let told = run(&database.url(), &["migrate"]).await;
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""), "{told:?}");
}

#[tokio::test]
async fn a_key_is_made_used_listed_and_revoked() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    let account = run(url, &["account", "create", "alice", "--json"]).await.json();
    assert_eq!(account, json!({ "account": "alice" }));
    let made = run(url, &["key", "create", "--account", "alice", "--json"]).await.json();
    let key = made["api_key"].as_str().unwrap();
    let public_id = made["public_id"].as_str().unwrap();
    assert_eq!(made["scopes"], json!(["prompts:write"]));
    let plain = run(url, &["key", "create", "--account=alice", "--scope=none", "--vendor=acme"]);
    let plain = plain.await;
    assert!(plain.stdout.starts_with("acme_live_p1") && plain.stdout.ends_with('\n'), "{plain:?}");

    let variables = [("PROMPTARIUM_DATABASE_URL", url.as_str())];
    let server = Running::start(&["--blob-store=memory:"], &variables).await;
    assert!(server.ready["api_key"].is_null(), "{}", server.ready);
    let mut connection = Connection::open(server.base_url()).await;
    let mut ask = async || {
        connection.send(request(key, "POST", "/uploads/images", Some(SLOT))).await;
        connection.answer().await.unwrap().status
    };
    assert_eq!(ask().await, 201);
    let revoked = run(url, &["key", "revoke", public_id, "--json"]).await.json();
    assert_eq!(ask().await, 401);
    assert_eq!(run(url, &["key", "revoke", public_id, "--json"]).await.json(), revoked);

    let list = run(url, &["key", "list", "--account", "alice", "--json"]).await;
    assert!(!list.stdout.contains(key) && !list.stdout.contains("digest"), "{list:?}");
    let list = list.json();
    assert_eq!(list["keys"].as_array().unwrap().len(), 2);
    assert_eq!(list["keys"][0], revoked);
    assert_eq!(list["keys"][1]["scopes"], json!([]));
    assert_eq!(run(url, &["key", "list", "--json"]).await.json(), list);
}

const SLOT: &str = r#"{"contentType":"image/png","size":9}"#;

#[tokio::test]
async fn what_is_not_there_or_there_already_ends_it_with_1() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    assert_eq!(run(url, &["account", "create", "alice"]).await.code, Some(0));
    for (arguments, name) in [
        (&["account", "create", "alice"][..], "alice"),
        (&["key", "create", "--account", "bob"], "bob"),
        (&["key", "list", "--account", "bob"], "bob"),
        (&["key", "revoke", "a1"], "a1"),
    ] {
        let line = refused(url, arguments, 1).await;
        assert!(line.contains(name), "{line}");
    }
    let accounts = run(url, &["account", "list", "--json"]).await.json();
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 1, "{accounts}");
}

#[tokio::test]
async fn a_database_that_is_away_ends_it_with_2() {
    let away = "postgres://user:s3cret@127.0.0.1:1/name";
    for arguments in [&["account", "list"][..], &["migrate"], &["--listen", "127.0.0.1:0"]] {
        let line = refused(away, arguments, 2).await;
        assert!(line.contains("PROMPTARIUM_DATABASE_URL") && !line.contains("s3cret"), "{line}");
    }
}
