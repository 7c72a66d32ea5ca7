//! Flags and environment variables, and the errors about them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use tokio::net::TcpListener;
use tokio::process::Command;

use crate::support::program::{output, program, refusal_of};

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
async fn a_variable_that_is_not_utf_8_is_named() {
    for name in ["PROMPTARIUM_LISTEN", "PROMPTARIUM_SEED_KEY", "PROMPTARIUM_SIGNING_KEY"] {
        let value = OsString::from_vec(b"s3cret\xff".to_vec());
        let line = stderr_line(program::<&str>(&[], &[(name, &value)])).await;
        assert_eq!(line, format!("{name}: the value is not UTF-8 text"));
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
