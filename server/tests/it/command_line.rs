//! Flags and environment variables, and the errors about them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use tokio::net::TcpListener;

use crate::support::program::{output, program, refusal};

const SECRET: &str = "s3cret";

/// The line on stderr of a program that does not start, without the program's name.
async fn problem(arguments: &str, variables: &[(&str, &OsStr)]) -> String {
    let mut command = program(arguments);
    command.envs(variables.iter().copied());
    let line = refusal(command, 2).await;
    assert!(!line.contains(SECRET), "{line}");
    line.trim_end().strip_prefix("promptarium-server: ").unwrap().to_owned()
}

#[tokio::test]
async fn a_variable_that_is_not_utf_8_is_named() {
    for name in ["PROMPTARIUM_LISTEN", "PROMPTARIUM_SEED_KEY", "PROMPTARIUM_SIGNING_KEY"] {
        let value = OsString::from_vec(b"s3cret\xff".to_vec());
        let line = problem("", &[(name, &value)]).await;
        assert_eq!(line, format!("{name}: the value is not UTF-8 text"));
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_bound_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for (arguments, variables, source) in [
        (format!("--listen {address}"), &[][..], "--listen"),
        (String::new(), &[("PROMPTARIUM_LISTEN", OsStr::new(&address))], "PROMPTARIUM_LISTEN"),
        (format!("--listen=127.0.0.1:0 --admin-listen {address}"), &[], "--admin-listen"),
    ] {
        let line = problem(&arguments, variables).await;
        assert_eq!(line, format!("{source}: {address} is already in use"));
    }
    let line = problem("--listen nowhere.invalid:80", &[]).await;
    assert!(line.starts_with("--listen: cannot listen on nowhere.invalid:80: "), "{line}");
}

#[tokio::test]
async fn help_and_version_exit_with_0_and_show_no_variable() {
    for argument in ["--help", "--version"] {
        let mut command = program(argument);
        command.env("PROMPTARIUM_SEED_KEY", SECRET);
        let output = output(command).await;
        assert_eq!((output.code, &*output.stderr), (Some(0), ""));
        let text = output.stdout;
        assert!(text.contains("promptarium-server") && !text.contains(SECRET), "{text}");
    }
}
