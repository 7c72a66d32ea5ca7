//! Flags, environment, and what is said when they are wrong.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::process::Output;

use tokio::net::TcpListener;

use crate::support::program::{Running, output, program};

const SECRET: &str = "s3cret";

/// The one line on stderr of a program that does not start.
fn refused(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(stderr.matches('\n').count(), 1, "{stderr}");
    assert!(!stderr.contains(SECRET), "{stderr}");
    stderr.trim_end().to_owned()
}

async fn refused_for(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let variables: Vec<_> =
        variables.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
    refused(&output(program(arguments, &variables)).await)
}

#[tokio::test]
async fn a_wrong_flag_ends_it_with_2_and_one_line() {
    let line = refused_for(&["--log-format", "xml"], &[]).await;
    assert_eq!(line, "promptarium-server: --log-format must be pretty or json");
    let line = refused_for(&["--nonsense"], &[]).await;
    assert!(line.contains("`--nonsense`"), "{line}");
}

#[tokio::test]
async fn a_wrong_variable_is_named() {
    for (name, value) in [
        ("PROMPTARIUM_LISTEN", "here"),
        ("PROMPTARIUM_LISTEN", ""),
        ("PROMPTARIUM_PUBLIC_URL", "ftp://example.com"),
        ("PROMPTARIUM_MODEL_NAMESPACE", "a/b"),
        ("PROMPTARIUM_VENDOR", "Acme"),
        ("PROMPTARIUM_SEED_KEY", "promptarium_live_a1_s3cret"),
        ("PROMPTARIUM_SEED_KEY", " "),
        ("PROMPTARIUM_SIGNING_KEY", SECRET),
        ("PROMPTARIUM_LOG", "a=b=c"),
        ("PROMPTARIUM_LOG_FORMAT", "xml"),
        ("PROMPTARIUM_ADMIN_LISTEN", "9090"),
        ("PROMPTARIUM_MAX_CONNECTIONS", "many"),
        ("PROMPTARIUM_DRAIN_DELAY", "1.5"),
        ("PROMPTARIUM_DRAIN_TIMEOUT", "1h"),
        ("PROMPTARIUM_JSON", "yes"),
        ("PROMPTARIUM_DATABASE_URL", "s3cret"),
        ("PROMPTARIUM_DATABASE_POOL", "8"),
        ("PROMPTARIUM_MIGRATE", "later"),
    ] {
        let line = refused_for(&[], &[(name, value)]).await;
        assert!(line.contains(name), "{line}");
    }
}

#[tokio::test]
async fn an_unreadable_variable_is_named() {
    for name in ["PROMPTARIUM_LISTEN", "PROMPTARIUM_SEED_KEY", "PROMPTARIUM_SIGNING_KEY"] {
        let value = OsString::from_vec(b"s3cret\xff".to_vec());
        let line = refused(&output(program::<&str>(&[], &[(name, &value)])).await);
        assert_eq!(
            line,
            format!("promptarium-server: {name} is not readable: it is not UTF-8 text")
        );
    }
}

#[tokio::test]
async fn all_faults_are_told_at_once() {
    let line = refused_for(
        &["--vendor", "A"],
        &[("PROMPTARIUM_JSON", "yes"), ("PROMPTARIUM_DRAIN_DELAY", "x")],
    )
    .await;
    for name in ["--vendor", "PROMPTARIUM_JSON", "PROMPTARIUM_DRAIN_DELAY"] {
        assert!(line.contains(name), "{line}");
    }
}

#[tokio::test]
async fn a_taken_port_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for flag in ["--listen", "--admin-listen"] {
        let mut arguments = vec![flag, &address];
        if flag != "--listen" {
            arguments.extend(["--listen", "127.0.0.1:0"]);
        }
        let line = refused_for(&arguments, &[]).await;
        let expected =
            format!("promptarium-server: {flag}: something listens on {address} already");
        assert_eq!(line, expected);
    }
    let line = refused_for(&["--listen", "nowhere.invalid:80"], &[]).await;
    assert!(line.contains("--listen: cannot listen on nowhere.invalid:80"), "{line}");
}

#[tokio::test]
async fn a_wrong_seed_is_told_by_its_place() {
    let seeds = ["--seed-key", "promptarium_live_a1_s3cret=alice"];
    let wrong = [&seeds[..], &["--seed-key", "promptarium_live_b1_s3cret"]].concat();
    let line = refused_for(&wrong, &[]).await;
    assert!(line.contains("--seed-key number 2 "), "{line}");

    let clash = [&seeds[..], &["--seed-key", "promptarium_live_a1_s3cret2=bob"]].concat();
    let line = refused_for(&clash, &[]).await;
    assert!(line.contains("seed key number 2 has the public id of another key"), "{line}");
}

#[tokio::test]
async fn seeds_in_the_environment_are_separated_by_white_space() {
    let seeds = "promptarium_live_a1_s3cret=alice:prompts:write\npromptarium_live_b1_s=bob:none";
    let server = Running::start(&[], &[("PROMPTARIUM_SEED_KEY", seeds)]).await;
    assert!(server.ready["api_key"].is_null(), "{}", server.ready);
    for (key, status) in [("promptarium_live_a1_s3cret", 201), ("promptarium_live_b1_s", 401)] {
        let mut connection = crate::support::client::Connection::open(server.base_url()).await;
        let request =
            crate::support::client::request(key, "POST", "/vaults", Some(r#"{"name":"v"}"#));
        connection.send(request).await;
        assert_eq!(connection.answer().await.unwrap().status, status);
    }
}

#[tokio::test]
async fn the_same_seed_twice_is_no_fault() {
    let seed = "promptarium_live_a1_s3cret=alice";
    let server = Running::start(&["--seed-key", seed, "--seed-key", seed], &[]).await;
    assert!(server.ready["api_key"].is_null());
}

#[tokio::test]
async fn help_and_version_end_it_with_0() {
    for argument in ["--help", "--version"] {
        let variables = [("PROMPTARIUM_SEED_KEY", OsStr::new(SECRET))];
        let output = output(program(&[argument], &variables)).await;
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("promptarium-server") && !text.contains(SECRET), "{text}");
    }
}
