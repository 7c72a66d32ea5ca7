//! Flags and environment variables, and the errors about them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use tokio::net::TcpListener;
use tokio::process::Command;

use crate::support::client::Connection;
use crate::support::program::{Running, output, program, refusal_of};

const SECRET: &str = "s3cret";

/// The line on stderr of a program that does not start, without the program's name.
async fn stderr_line(command: Command) -> String {
    let line = refusal_of(command).await;
    assert!(!line.contains(SECRET), "{line}");
    line.trim_end().strip_prefix("promptarium-server: ").unwrap().to_owned()
}

async fn problem(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let variables: Vec<_> =
        variables.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
    stderr_line(program(arguments, &variables)).await
}

#[tokio::test]
async fn a_wrong_variable_is_named() {
    for (name, value) in [
        ("PROMPTARIUM_LISTEN", "foo"),
        ("PROMPTARIUM_PUBLIC_URL", "ftp://example.com"),
        ("PROMPTARIUM_MODEL_NAMESPACE", "a/b"),
        ("PROMPTARIUM_VENDOR", "Acme"),
        ("PROMPTARIUM_SEED_KEY", "promptarium_live_a1_s3cret"),
        ("PROMPTARIUM_SIGNING_KEY", SECRET),
        ("PROMPTARIUM_LOG", "a=b=c"),
        ("PROMPTARIUM_LOG_FORMAT", "xml"),
        ("PROMPTARIUM_ADMIN_LISTEN", "here"),
        ("PROMPTARIUM_MAX_CONNECTIONS", "many"),
        ("PROMPTARIUM_DRAIN_DELAY", "1.5"),
        ("PROMPTARIUM_DRAIN_TIMEOUT", "1h"),
        ("PROMPTARIUM_JSON", "yes"),
        ("PROMPTARIUM_BLOB_STORE", "s3://"),
        ("PROMPTARIUM_PROVIDER", "other"),
        ("PROMPTARIUM_PROVIDER_PRIVATE_OUTPUTS", "yes"),
        ("PROMPTARIUM_WORKERS", "-1"),
        ("PROMPTARIUM_DATABASE_URL", SECRET),
        ("PROMPTARIUM_DATABASE_POOL", "8"),
        ("PROMPTARIUM_MIGRATE", "later"),
    ] {
        let line = problem(&[], &[(name, value)]).await;
        assert!(line.starts_with(&format!("{name}: ")), "{line}");
    }
}

#[tokio::test]
async fn a_variable_that_is_not_utf_8_is_named() {
    for name in ["PROMPTARIUM_LISTEN", "PROMPTARIUM_SEED_KEY", "PROMPTARIUM_SIGNING_KEY"] {
        let value = OsString::from_vec(b"s3cret\xff".to_vec());
        let line = stderr_line(program::<&str>(&[], &[(name, &value)])).await;
        assert_eq!(line, format!("{name}: the value is not UTF-8 text"));
    }
}

#[tokio::test]
async fn an_unknown_variable_stops_every_command_and_the_nearest_one_is_named() {
    let variables = [("PROMPTARIUM_DATABASE_UR", "postgres://user:s3cret@localhost/name")];
    for arguments in [&[][..], &["serve"], &["migrate"], &["key", "list"], &["openapi"]] {
        let line = problem(arguments, &variables).await;
        let expected = "PROMPTARIUM_DATABASE_UR: unknown; did you mean PROMPTARIUM_DATABASE_URL?";
        assert!(line.starts_with(expected), "{line}");
    }
}

#[tokio::test]
async fn variables_without_a_value_and_of_other_programs_are_left_alone() {
    let variables = [
        ("PROMPTARIUM_DATABASE_URL", ""),
        ("PROMPTARIUM_LISTEN", ""),
        ("PROMPTARIUM_SEED_KEY", ""),
        ("PROMPTARIUM_WORKERS", ""),
        ("PROMPTARIUM_API_KEY", "promptarium_live_a1_s3cret"),
        ("PROMPTARIUM_PORT_8080_TCP_ADDR", "10.0.0.1"),
    ];
    let server = Running::start(&[], &variables).await;
    assert_eq!(server.ready["store"], "memory");
}

#[tokio::test]
async fn a_flag_wins_over_its_variable() {
    let variables = [("PROMPTARIUM_PUBLIC_URL", "not a URL")];
    for command in [&[][..], &["serve"]] {
        let arguments = [&["--public-url=https://example.com/p/"], command].concat();
        let server = Running::start(&arguments, &variables).await;
        assert_eq!(server.base_url(), "https://example.com/p/api/v1");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_bound_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for (arguments, variables, source) in [
        (&["--listen", &address][..], &[][..], "--listen"),
        (&[], &[("PROMPTARIUM_LISTEN", address.as_str())], "PROMPTARIUM_LISTEN"),
        (&["--listen=127.0.0.1:0", "--admin-listen", &address], &[], "--admin-listen"),
    ] {
        let line = problem(arguments, variables).await;
        assert_eq!(line, format!("{source}: {address} is already in use"));
    }
    let line = problem(&["--listen", "nowhere.invalid:80"], &[]).await;
    assert!(line.starts_with("--listen: cannot listen on nowhere.invalid:80: "), "{line}");
}

#[tokio::test]
async fn two_seed_keys_with_one_public_id_are_refused() {
    let seed = "promptarium_live_a1_s3cret=alice";
    let clash = "promptarium_live_a1_s3cret2=bob";
    let line = problem(&["--seed-key", seed, "--seed-key", clash], &[]).await;
    assert_eq!(line, "--seed-key: number 2 has the public id of another one");
    let server = Running::start(&["--seed-key", seed, "--seed-key", seed], &[]).await;
    assert!(server.ready["api_key"].is_null());
}

#[tokio::test]
async fn white_space_separates_seed_keys_in_the_variable() {
    let seeds = "promptarium_live_a1_s3cret=alice:prompts:write\npromptarium_live_b1_s=bob:none";
    let server = Running::start(&[], &[("PROMPTARIUM_SEED_KEY", seeds)]).await;
    assert!(server.ready["api_key"].is_null(), "{}", server.ready);
    for (key, status) in [("promptarium_live_a1_s3cret", 201), ("promptarium_live_b1_s", 401)] {
        let body = Some(r#"{"name":"v"}"#);
        let created = Connection::to(&server).await.api(key, "POST", "/vaults", body).await;
        assert_eq!(created.status, status);
    }
}

#[tokio::test]
async fn help_and_version_exit_with_0_and_show_no_variable() {
    for argument in ["--help", "--version"] {
        let variables = [("PROMPTARIUM_SEED_KEY", OsStr::new(SECRET))];
        let output = output(program(&[argument], &variables)).await;
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("promptarium-server") && !text.contains(SECRET), "{text}");
    }
}
