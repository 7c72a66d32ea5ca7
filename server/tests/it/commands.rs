//! The commands that work on the database: output and exit codes.

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::json;

use crate::support::client::Connection;
use crate::support::program::{Running, failure, output, program, run};
use crate::support::{SLOT, TIMEOUT, wait_until};

#[tokio::test]
async fn migrate_applies_each_migration_once() {
    let database = ScratchDatabase::empty().await.unwrap();
    let url = &database.url();
    let line = failure(url, "account list --migrate=off", 2).await;
    assert!(line.contains("PROMPTARIUM_DATABASE_URL") && line.contains("migrate"), "{line}");
    let first = run(url, "migrate --json").await.json();
    assert!(!first["applied"].as_array().unwrap().is_empty(), "{first}");
    assert_eq!(run(url, "migrate --json").await.json(), json!({ "applied": [] }));
    let line = failure(url, "migrate --distribute", 2).await;
    assert!(line.contains("has no extension citus"), "{line}");
    let text = run(url, "migrate").await;
    assert_eq!((text.code, &*text.stdout), (Some(0), "the schema is up to date\n"), "{text:?}");
}

#[tokio::test]
async fn a_key_is_created_used_listed_and_revoked() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    let account = run(url, "account create alice --json").await.json();
    assert_eq!(account, json!({ "account": "alice" }));
    let created = run(url, "key create --account alice --name laptop --json").await.json();
    let key = created["api_key"].as_str().unwrap();
    let revoke = format!("key revoke {} --json", created["public_id"].as_str().unwrap());
    assert_eq!(created["name"], "laptop");
    assert_eq!(created["scopes"], json!(["prompts:write"]));
    let plain = run(url, "key create --account=alice --scope=none --vendor=acme").await;
    assert!(plain.stdout.starts_with("acme_live_p1") && plain.stdout.ends_with('\n'), "{plain:?}");

    let server = Running::on(url, "").await;
    assert!(server.ready["api_key"].is_null(), "{}", server.ready);
    let mut connection = Connection::to(&server).await;
    let mut status =
        async || connection.api(key, "POST", "/uploads/images", Some(SLOT)).await.status;
    assert_eq!(status().await, 201);
    // The server does not wait until the use is stored.
    let list = async || run(url, "key list --json").await.json();
    let is_stored = async || list().await["keys"][0]["last_used_at"].is_string();
    wait_until(TIMEOUT, is_stored).await.expect("the use");
    let revoked = run(url, &revoke).await.json();
    assert_eq!(status().await, 401);
    assert_eq!(run(url, &revoke).await.json(), revoked);

    let of_alice = run(url, "key list --account alice --json").await;
    assert!(!of_alice.stdout.contains(key) && !of_alice.stdout.contains("digest"), "{of_alice:?}");
    let of_alice = of_alice.json();
    let [first, second] = &of_alice["keys"].as_array().unwrap()[..] else { panic!("{of_alice}") };
    assert_eq!((first, &first["name"]), (&revoked, &json!("laptop")));
    assert!(second["name"].is_null() && second["last_used_at"].is_null(), "{second}");
    assert_eq!(second["scopes"], json!([]));
    assert_eq!(list().await, of_alice);
}

#[tokio::test]
async fn a_sign_in_code_has_a_link_with_the_given_address_or_that_of_the_last_server() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    run(url, "account create alice").await;
    let bare = run(url, "sign-in alice --json").await.json();
    assert!(bare["link"].is_null() && bare["code"].is_string(), "{bare}");
    let text = run(url, "sign-in alice").await.stdout;
    assert!(text.contains("sign-in page") && text.contains("--public-url"), "{text}");

    const PUBLIC: &str = "--public-url=https://example.com/p";
    let made = run(url, &format!("sign-in alice {PUBLIC} --json")).await.json();
    let code = made["code"].as_str().unwrap();
    let link = format!("https://example.com/p/sign-in#{code}");
    assert_eq!(made, json!({ "account": "alice", "link": link, "code": code }));
    let text = run(url, &format!("sign-in alice {PUBLIC}")).await;
    let (link, rest) = text.stdout.split_once('\n').unwrap();
    let code = link.strip_prefix("https://example.com/p/sign-in#").unwrap();
    assert!(rest.contains("15 minutes") && rest.ends_with(&format!(":\n{code}\n")), "{text:?}");

    drop(Running::on(url, PUBLIC).await);
    let link = run(url, "sign-in alice --json").await.json();
    assert!(link["link"].as_str().unwrap().starts_with("https://example.com/p/sign-in#"));
}

#[tokio::test]
async fn missing_and_duplicate_names_exit_with_1() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = &database.url();
    assert_eq!(run(url, "account create alice").await.code, Some(0));
    let refused = [
        ("account create alice", "alice"),
        ("key create --account bob", "bob"),
        ("key list --account bob", "bob"),
        ("key revoke a1", "a1"),
        ("sign-in bob", "bob"),
        ("session list nobody", "there is no account nobody"),
        ("session end nobody --all", "there is no account nobody"),
        ("account rename nobody somebody", "there is no account nobody"),
        ("account delete nobody --yes", "there is no account nobody"),
        ("account export nobody", "there is no account nobody"),
        ("account import nobody /dev/null", "nothing is imported: /dev/null"),
        ("session end alice 999", "no session 999"),
    ]
    .map(async |(arguments, name)| {
        let line = failure(url, arguments, 1).await;
        assert!(line.contains(name), "{line}");
    });
    join_all(refused).await;
    let accounts = run(url, "account list --json").await.json();
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 1, "{accounts}");
}

#[tokio::test]
async fn an_unreachable_database_exits_with_3() {
    let unreachable = "postgres://user:s3cret@127.0.0.1:1/name";
    for arguments in ["account list", "migrate", "--listen 127.0.0.1:0"] {
        let arguments = format!("{arguments} --database-wait 0");
        let line = failure(unreachable, &arguments, 3).await;
        assert!(line.contains("PROMPTARIUM_DATABASE_URL") && !line.contains("s3cret"), "{line}");
    }
}

#[tokio::test]
async fn completions_and_the_man_page_name_commands_and_flags() {
    for (arguments, texts) in [
        ("completions bash", ["_promptarium__server()", "--listen"]),
        ("completions zsh", ["#compdef promptarium-server", "--public-url"]),
        ("completions fish", ["complete -c promptarium-server", "blob-store"]),
        ("man", [".TH", "database\\-url"]),
    ] {
        let output = output(program(arguments)).await;
        assert_eq!(output.code, Some(0), "{arguments}");
        for text in texts.into_iter().chain(["sign"]) {
            assert!(output.stdout.contains(text), "{arguments}: {}", output.stdout);
        }
    }
}
