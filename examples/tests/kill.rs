//! `import_folder` is killed at random times, behind a proxy that loses requests and responses, and
//! started again until it succeeds: nothing is lost, stored twice, or paid twice.
//!
//! `PROMPTARIUM_KILL_ROUNDS` is how many times it is killed; by default a few.

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
use crate::proxy::Proxy;

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
    let (mut killed, mut imports, began) = (0, 0, Instant::now());
    while killed < rounds {
        let (kills, runs) = import(&size, rounds - killed).await;
        killed += kills;
        imports += 1;
        eprintln!(
            "import {imports}: killed {kills} times in {runs} runs; {killed} kills in all after {} s",
            began.elapsed().as_secs()
        );
    }
}

/// One import: killed up to so many times, then left to its end, and checked. Returns how many times
/// it was killed and started.
async fn import(size: &Size, kills_max: usize) -> (usize, usize) {
    let proxy = Proxy::start(true).await;
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
    check(size, &proxy, &server).await;
    (killed, runs)
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
        fs::write(folder.join(format!("{n:03}.txt")), format!("Study {n}\nStill life {n}"))
            .unwrap();
        if n < size.pictures {
            fs::write(folder.join(format!("{n:03}.png")), &picture).unwrap();
        }
    }
    for n in 0..size.generations {
        fs::write(folder.join(format!("{n:03}.generate.txt")), format!("Harbour {n}")).unwrap();
    }
}

/// Compares what the server has, and what it carried out, with the folder.
async fn check(size: &Size, proxy: &Proxy, server: &EmbeddedServer) {
    // A request of a killed process may be on its way yet.
    sleep(Duration::from_millis(500)).await;
    // Not by way of the proxy.
    let url = format!("http://{}/api/v1", server.local_addr());
    let client = Client::new(url, server.api_key()).unwrap();
    let vaults = client.vaults().list().await.unwrap();
    let vaults: Vec<_> = vaults.iter().filter(|vault| !vault.is_system).collect();
    assert_eq!(vaults.len(), 1, "{vaults:?}");

    let mut times = BTreeMap::new();
    for member in client.vault(vaults[0].id).list().await.unwrap() {
        *times.entry((member.title.clone(), member.text.clone())).or_insert(0) += 1;
    }
    let prompts = client.prompts().list().collect().await.unwrap();
    assert_eq!(prompts.len(), size.prompts + size.generations, "{times:?}");
    for n in 0..size.prompts {
        let content = (format!("Study {n}"), format!("Still life {n}"));
        assert_eq!(times.remove(&content), Some(1), "{content:?}");
    }
    let texts: HashSet<_> = times.keys().map(|(_, text)| text.clone()).collect();
    assert!((0..size.generations).all(|n| texts.contains(&format!("Harbour {n}"))), "{texts:?}");

    let seen = proxy.seen();
    let count = |start: &str, status| {
        seen.iter().filter(|it| it.line.starts_with(start) && it.status == status).count()
    };
    assert_eq!(count("POST /api/v1/vaults", 201), 1, "vaults");
    assert_eq!(count("POST /api/v1/prompts", 201), size.prompts, "prompts");
    // One that may have been sent is sent again, which costs nothing.
    assert!(count("PUT ", 200) >= size.pictures, "pictures");
    let queued =
        |it: &&crate::proxy::Seen| it.line == "POST /api/v1/generations" && it.status == 202;
    let jobs: Vec<_> = seen.iter().filter(queued).collect();
    let ids: HashSet<_> = jobs.iter().map(|it| it.body["data"]["clientJobId"].as_str()).collect();
    assert_eq!((jobs.len(), ids.len()), (size.generations, size.generations), "jobs");
}
