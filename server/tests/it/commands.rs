//! The commands that work on the database: output and exit codes.

use std::ffi::OsStr;

use promptarium_server::test_support::ScratchDatabase;
use serde_json::{Value, json};

use crate::support::client::Connection;
use crate::support::program::{Running, output, program};

#[derive(Debug)]
struct CommandOutput {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl CommandOutput {
    fn json(&self) -> Value {
        assert_eq!((self.code, self.stdout.matches('\n').count()), (Some(0), 1), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs a command with the URL of the database in its environment.
async fn run(url: &str, arguments: &[&str]) -> CommandOutput {
    let variables = [("PROMPTARIUM_DATABASE_URL", OsStr::new(url))];
    let output = output(program(arguments, &variables)).await;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    CommandOutput {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The line on stderr of a command that failed.
async fn failure(url: &str, arguments: &[&str], code: i32) -> String {
    let output = run(url, arguments).await;
    assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{output:?}");
    assert_eq!(output.stderr.matches('\n').count(), 1, "{output:?}");
    output.stderr
}

#[tokio::test]
async fn migrate_applies_each_migration_once() {
    let database = ScratchDatabase::empty().await.unwrap();
    let line = failure(&database.url(), &["account", "list", "--migrate=off"], 2).await;
    assert!(line.contains("PROMPTARIUM_DATABASE_URL") && line.contains("migrate"), "{line}");
    let first = run(&database.url(), &["migrate", "--json"]).await.json();
    assert!(!first["applied"].as_array().unwrap().is_empty(), "{first}");
    let again = run(&database.url(), &["migrate", "--json"]).await.json();
    assert_eq!(again, json!({ "applied": [] }));
    let line = failure(&database.url(), &["migrate", "--distribute"], 2).await;
    assert!(line.contains("has no extension citus"), "{line}");
    let text = run(&database.url(), &["migrate"]).await;
    let expected = (Some(0), "the schema is up to date\n", "");
    assert_eq!((text.code, text.stdout.as_str(), text.stderr.as_str()), expected);
}

#[tokio::test]
async fn a_key_is_created_used_listed_and_revoked() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    let account = run(url, &["account", "create", "alice", "--json"]).await.json();
    assert_eq!(account, json!({ "account": "alice" }));
    let create = ["key", "create", "--account", "alice", "--name", "laptop", "--json"];
    let created = run(url, &create).await.json();
    assert_eq!(created["name"], "laptop");
    let key = created["api_key"].as_str().unwrap();
    let public_id = created["public_id"].as_str().unwrap();
    assert_eq!(created["scopes"], json!(["prompts:write"]));
    let plain = run(url, &["key", "create", "--account=alice", "--scope=none", "--vendor=acme"]);
    let plain = plain.await;
    assert!(plain.stdout.starts_with("acme_live_p1") && plain.stdout.ends_with('\n'), "{plain:?}");

    let variables = [("PROMPTARIUM_DATABASE_URL", url.as_str())];
    let server = Running::start(&["--blob-store=memory:"], &variables).await;
    assert!(server.ready["api_key"].is_null(), "{}", server.ready);
    let mut connection = Connection::to(&server).await;
    let mut status =
        async || connection.api(key, "POST", "/uploads/images", Some(SLOT)).await.status;
    assert_eq!(status().await, 201);
    // The server does not wait until the use is stored.
    while run(url, &["key", "list", "--json"]).await.json()["keys"][0]["last_used_at"].is_null() {}
    let revoked = run(url, &["key", "revoke", public_id, "--json"]).await.json();
    assert_eq!(status().await, 401);
    assert_eq!(run(url, &["key", "revoke", public_id, "--json"]).await.json(), revoked);

    let list = run(url, &["key", "list", "--account", "alice", "--json"]).await;
    assert!(!list.stdout.contains(key) && !list.stdout.contains("digest"), "{list:?}");
    let list = list.json();
    assert_eq!(list["keys"].as_array().unwrap().len(), 2);
    assert_eq!(list["keys"][0]["name"], "laptop");
    assert!(list["keys"][1]["name"].is_null() && list["keys"][1]["last_used_at"].is_null());
    assert_eq!(list["keys"][0], revoked);
    assert_eq!(list["keys"][1]["scopes"], json!([]));
    assert_eq!(run(url, &["key", "list", "--json"]).await.json(), list);
}

#[tokio::test]
async fn a_sign_in_code_is_printed_with_its_link() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    run(url, &["account", "create", "alice"]).await;
    let public = "--public-url=https://example.com/p";
    let made = run(url, &["sign-in", "alice", public, "--json"]).await.json();
    let code = made["code"].as_str().unwrap();
    let link = format!("https://example.com/p/sign-in#{code}");
    assert_eq!(made, json!({ "account": "alice", "link": link, "code": code }));
    let text = run(url, &["sign-in", "alice", public]).await;
    let (link, rest) = text.stdout.split_once('\n').unwrap();
    let code = link.strip_prefix("https://example.com/p/sign-in#").unwrap();
    assert!(rest.contains("15 minutes") && rest.ends_with(&format!(":\n{code}\n")), "{text:?}");
}

#[tokio::test]
async fn a_sign_in_link_has_the_address_of_the_last_server_unless_another_is_given() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    run(url, &["account", "create", "alice"]).await;
    let bare = run(url, &["sign-in", "alice", "--json"]).await.json();
    assert!(bare["link"].is_null() && bare["code"].is_string(), "{bare}");
    let text = run(url, &["sign-in", "alice"]).await.stdout;
    assert!(text.contains("sign-in page") && text.contains("--public-url"), "{text}");

    let flags = ["--blob-store=memory:", "--public-url=https://example.com/p"];
    let server = Running::start(&flags, &[("PROMPTARIUM_DATABASE_URL", url)]).await;
    drop(server);
    let link = run(url, &["sign-in", "alice", "--json"]).await.json();
    assert!(link["link"].as_str().unwrap().starts_with("https://example.com/p/sign-in#"));
}

const SLOT: &str = r#"{"contentType":"image/png","size":9}"#;

#[tokio::test]
async fn missing_and_duplicate_names_exit_with_1() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    assert_eq!(run(url, &["account", "create", "alice"]).await.code, Some(0));
    for (arguments, name) in [
        (&["account", "create", "alice"][..], "alice"),
        (&["key", "create", "--account", "bob"], "bob"),
        (&["key", "list", "--account", "bob"], "bob"),
        (&["key", "revoke", "a1"], "a1"),
        (&["sign-in", "bob"], "bob"),
    ] {
        let line = failure(url, arguments, 1).await;
        assert!(line.contains(name), "{line}");
    }
    let accounts = run(url, &["account", "list", "--json"]).await.json();
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 1, "{accounts}");
}

#[tokio::test]
async fn an_unreachable_database_exits_with_2() {
    let unreachable = "postgres://user:s3cret@127.0.0.1:1/name";
    for arguments in [&["account", "list"][..], &["migrate"], &["--listen", "127.0.0.1:0"]] {
        let line = failure(unreachable, arguments, 2).await;
        assert!(line.contains("PROMPTARIUM_DATABASE_URL") && !line.contains("s3cret"), "{line}");
    }
}
