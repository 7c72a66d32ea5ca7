//! `run --last-failed`: what failed against a target before is run again, and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::prelude::*;

static MENDED: AtomicBool = AtomicBool::new(false);

fn is_there(path: &&str) -> bool {
    MENDED.load(Ordering::Relaxed) || !path.ends_with("/save")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_run_again_until_it_is_mended() {
    let changes = Changes { path: |path| Some(path).filter(is_there), ..Changes::NONE };
    let (server, base_url, _front) = server_behind(changes).await;
    let cache = folder("last-failed").display().to_string();
    let run = async |arguments: &[&str], code: i32, parts: &[&str]| {
        let variables = [
            ("PROMPTARIUM_BASE_URL", &*base_url),
            ("PROMPTARIUM_API_KEY", MAIN),
            ("XDG_CACHE_HOME", &*cache),
        ];
        let arguments = [&["run", "--time-scale", "5"], arguments].concat();
        program(&arguments, &variables).await.ended(code, parts);
    };
    let chosen = ["--filter", "prompts.save.", "--filter", "prompts.create.platform"];
    run(&chosen, 1, &["3 scenarios in", "1 passed"]).await;
    run(&["--last-failed"], 1, &["2 scenarios in", "0 mended, 2 as before"]).await;
    MENDED.store(true, Ordering::Relaxed);
    let mended = ["2 passed", "2 mended, 0 as before", "mended prompts.save.adds"];
    run(&["--last-failed"], 0, &mended).await;
    run(&["--last-failed"], 2, &["nothing failed in the last run"]).await;
    server.shutdown().await;
}
