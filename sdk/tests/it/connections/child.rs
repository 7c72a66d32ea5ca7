//! Tests that need a process of their own, since they change its environment or fork it.

use std::env;
use std::process::{Command, Output};

const MARK: &str = "PROMPTARIUM_TEST_CHILD";

/// The variables that choose proxies and certificates.
const NETWORK: [&str; 10] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Runs the test of this name again in a process with only these variables for proxies and
/// certificates, and fails if it fails there. `false` in that process.
pub(crate) fn passes_in_child(test: &str, variables: &[(&str, &str)]) -> bool {
    if env::var_os(MARK).is_some() {
        return false;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    for name in NETWORK {
        command.env_remove(name);
    }
    passes(command.envs(variables.iter().copied()), test)
}

/// The same, by a shell with this script, whose arguments are the program and its arguments.
#[cfg(unix)]
pub(crate) fn passes_in_child_of(script: &str, test: &str) -> bool {
    if env::var_os(MARK).is_some() {
        return false;
    }
    passes(Command::new("sh").args(["-c", script]).arg(env::current_exe().unwrap()), test)
}

fn passes(command: &mut Command, test: &str) -> bool {
    command.args(["--exact", test, "--nocapture"]).env(MARK, "1");
    let Output { status, stdout, stderr } = command.output().unwrap();
    let shown = String::from_utf8_lossy(&stdout);
    let failure = String::from_utf8_lossy(&stderr);
    assert!(status.success() && shown.contains("1 passed"), "{status}\n{shown}\n{failure}");
    true
}
