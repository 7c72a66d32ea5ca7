//! `import_folder` is killed at random times, behind a proxy that loses requests and responses, and
//! started again until it succeeds: nothing is lost, stored twice, or paid twice.
//!
//! On three servers: ours, one that trims texts, and one whose times are whole seconds.
//!
//! `PROMPTARIUM_KILL_ROUNDS` is how many times it is killed on each; by default a few.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use promptarium::Client;
use promptarium_examples::pictures;
use promptarium_server::EmbeddedServer;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::program;
use crate::proxy::{Manner, Proxy};

/// The files of one import.
struct Size {
    prompts: usize,
    pictures: usize,
    generations: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_is_killed_loses_and_doubles_nothing() {
    let rounds = std::env::var("PROMPTARIUM_KILL_ROUNDS").ok();
    let (size, rounds) = match rounds {
        Some(rounds) => {
            let size = Size { prompts: 300, pictures: 150, generations: 20 };
            (size, rounds.parse().expect("PROMPTARIUM_KILL_ROUNDS is a number"))
        }
        None => (Size { prompts: 30, pictures: 15, generations: 2 }, 5),
    };
    for manner in [Manner::Exact, Manner::Trims, Manner::WholeSeconds] {
        let (mut killed, mut imports, mut runs, began) = (0, 0, 0, Instant::now());
        let mut found = Found::default();
        while killed < rounds {
            let (kills, starts, of_import) = import(&size, rounds - killed, manner).await;
            (killed, imports, runs) = (killed + kills, imports + 1, runs + starts);
            found.add(&of_import);
        }
        let seconds = began.elapsed().as_secs();
        eprintln!(
            "{manner:?}: {killed} kills in {runs} runs of {imports} imports, {seconds} s: {found:?}"
        );
        assert_eq!(found, Found::default(), "{manner:?}");
    }
}

/// What went wrong, by number.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    lost: usize,
    doubled: usize,
    paid_twice: usize,
}

impl Found {
    fn add(&mut self, other: &Self) {
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.paid_twice += other.paid_twice;
    }

    /// Of so many things there are so many.
    fn count(&mut self, wanted: usize, found: usize) {
        self.lost += wanted.saturating_sub(found);
        self.doubled += found.saturating_sub(wanted);
    }
}

/// One import: killed up to so many times, then left to its end, and checked. Returns how many times
/// it was killed and started, and what went wrong.
async fn import(size: &Size, kills_max: usize, manner: Manner) -> (usize, usize, Found) {
    let proxy = Proxy::start(true).await;
    proxy.set_manner(manner);
    let server = EmbeddedServer::builder().public_url(proxy.url()).start().await.unwrap();
    proxy.forward_to(server.local_addr());
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), size);

    let (mut killed, mut runs) = (0, 0);
    loop {
        runs += 1;
        assert!(runs < 100 + 20 * kills_max, "the import does not end");
        let running = run(folder.path(), &proxy, server.api_key());
        let time = Duration::from_millis(fastrand::u64(20..2_500));
        let output = if killed < kills_max {
            timeout(time, running).await.ok()
        } else {
            Some(running.await)
        };
        match output {
            None => killed += 1,
            Some(output) if output.status.success() => break,
            Some(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                // A question whose answer was cut is asked again by the next run.
                assert!(!errors.contains("has more like it"), "{errors}");
            }
        }
    }
    (killed, runs, check(size, &proxy, &server, manner).await)
}

/// Runs the example; it is killed by SIGKILL when this is dropped.
fn run(folder: &Path, proxy: &Proxy, key: &str) -> impl Future<Output = Output> + use<> {
    let mut command = Command::new(program("import_folder"));
    command.args(["--settle", "1"]).arg(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command.env("PROMPTARIUM_BASE_URL", format!("{}/api/v1", proxy.url()));
    command.env("PROMPTARIUM_API_KEY", key).kill_on_drop(true);
    let child = command.spawn().unwrap();
    async move { child.wait_with_output().await.unwrap() }
}

fn fill(folder: &Path, size: &Size) {
    let picture = pictures::small_png().unwrap();
    for n in 0..size.prompts {
        let text = format!("  Study {n}\n  Still life {n},\r\nin oil");
        fs::write(folder.join(format!("{n:03}.txt")), text).unwrap();
        if n < size.pictures {
            fs::write(folder.join(format!("{n:03}.png")), &picture).unwrap();
        }
    }
    for n in 0..size.generations {
        fs::write(folder.join(format!("{n:03}.generate.txt")), format!("Harbour {n}")).unwrap();
    }
}

/// Compares what the server has, and what it carried out, with the folder.
async fn check(size: &Size, proxy: &Proxy, server: &EmbeddedServer, manner: Manner) -> Found {
    // A request of a killed process may be on its way yet.
    sleep(Duration::from_millis(500)).await;
    // Not by way of the proxy.
    let url = format!("http://{}/api/v1", server.local_addr());
    let client = Client::new(url, server.api_key()).unwrap();
    let mut found = Found::default();
    let vaults = client.vaults().list().await.unwrap();
    let vaults: Vec<_> = vaults.iter().filter(|vault| !vault.is_system).collect();
    found.count(1, vaults.len());

    let mut times = BTreeMap::new();
    for member in client.vault(vaults[0].id).list().await.unwrap() {
        *times.entry((member.title.clone(), member.text.clone())).or_insert(0) += 1;
    }
    for n in 0..size.prompts {
        let content = match manner {
            Manner::Trims => (format!("Study {n}"), format!("Still life {n},\nin oil")),
            _ => (format!("  Study {n}"), format!("  Still life {n},\r\nin oil")),
        };
        found.count(1, times.remove(&content).unwrap_or_default());
    }
    for n in 0..size.generations {
        let of_text = times.iter().filter(|((_, text), _)| *text == format!("Harbour {n}"));
        found.count(1, of_text.map(|(_, times)| times).sum());
    }
    let prompts = client.prompts().list().collect().await.unwrap();
    found.count(size.prompts + size.generations, prompts.len());

    let seen = proxy.seen();
    let count = |start: &str, status| {
        seen.iter().filter(|it| it.line.starts_with(start) && it.status == status).count()
    };
    found.count(1, count("POST /api/v1/vaults", 201));
    found.count(size.prompts, count("POST /api/v1/prompts", 201));
    // One that may have been sent is sent again, which costs nothing.
    found.lost += size.pictures.saturating_sub(count("PUT ", 200));
    let queued =
        |it: &&crate::proxy::Seen| it.line == "POST /api/v1/generations" && it.status == 202;
    let jobs: Vec<_> = seen.iter().filter(queued).collect();
    let ids: HashSet<_> = jobs.iter().map(|it| it.body["data"]["clientJobId"].as_str()).collect();
    found.lost += size.generations.saturating_sub(ids.len());
    found.paid_twice += jobs.len().saturating_sub(size.generations);
    found
}
