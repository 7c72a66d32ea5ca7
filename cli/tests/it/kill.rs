//! Imports and generations that are killed at random times, behind a proxy that loses requests and
//! responses, and started again until they succeed: nothing is stored or paid twice.

use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use promptarium_server::EmbeddedServer;

use crate::program::Library;
use crate::proxy::Proxy;

const PROMPTS: usize = 40;

/// A library that is reached through the proxy.
fn library() -> (Library, Proxy) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let proxy = runtime.block_on(Proxy::start(true));
    let server = EmbeddedServer::builder().public_url(proxy.url());
    let server = runtime.block_on(server.start()).unwrap();
    proxy.forward_to(server.local_addr());
    let (url, key) = (server.base_url().to_owned(), server.api_key().to_owned());
    let folder = tempfile::tempdir().unwrap();
    (Library { url, key, folder, _servers: (runtime, Some(server)) }, proxy)
}

/// The end of the program, or `None` if it was killed.
fn killed_after(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// Runs the command until it succeeds. `PROMPTARIUM_KILL_ROUNDS` is how many runs are killed; by
/// default a few.
fn until_it_succeeds(library: &Library, arguments: &[&str]) {
    let rounds = std::env::var("PROMPTARIUM_KILL_ROUNDS").ok();
    let rounds = rounds.map_or(4, |rounds| rounds.parse().expect("a number"));
    let mut kills = 0;
    for _ in 0..100 + 10 * rounds {
        let mut command = library.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let time = Duration::from_millis(fastrand::u64(50..1_500));
        let patience = if kills < rounds { time } else { Duration::from_secs(120) };
        match killed_after(&mut child, patience) {
            None => kills += 1,
            Some(status) if status.success() => return,
            Some(_) => {}
        }
    }
    panic!("{arguments:?} does not succeed");
}

fn answered(proxy: &Proxy, line: &str, status: u16) -> usize {
    proxy.seen().iter().filter(|it| it.line == line && it.status == status).count()
}

#[test]
fn an_import_that_is_killed_stores_everything_once() {
    let (library, proxy) = library();
    let rows: String =
        (0..PROMPTS).map(|n| format!("Title {n},Text {n},Vault {}\n", n % 3)).collect();
    library.write("a.csv", &format!("title,text,vault\n{rows}"));
    until_it_succeeds(&library, &["import", "a.csv", "--yes", "--settle", "1"]);
    assert_eq!(answered(&proxy, "POST /api/v1/prompts", 201), PROMPTS);
    assert_eq!(answered(&proxy, "POST /api/v1/vaults", 201), 3);
}

#[test]
fn a_generation_that_is_killed_is_paid_once() {
    let (library, proxy) = library();
    until_it_succeeds(&library, &["generate", "local/slow", "A harbour", "-o", "out"]);
    assert_eq!(answered(&proxy, "POST /api/v1/generations", 202), 1);
}
