//! The commands in the pages, as a reader types them, page by page.
//!
//! All blocks of a page run in one shell, in a folder of its own. Ports, databases and folders are
//! replaced by ones that only this test uses.

use std::process::Stdio;

use futures::future::join_all;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

use super::{markdown, read, root};
use crate::support::{TIMEOUT, free_address};

/// Blocks that do not run here: their page, their beginning and the reason.
const EXCLUDED: [(&str, &str, &str); 21] = [
    ("README.md", "cargo run --example", "builds; `examples/tests` runs the example"),
    ("README.md", "cargo install", "builds; `script/package` builds the package"),
    ("README.md", "DIST_PROGRAMS", "builds, and needs Docker; `script/dist test` starts the image"),
    ("README.md", "export PROMPTARIUM_BASE_URL", "conformance/tests/it/docs.rs runs it"),
    ("docs/install.md", "cargo install", "builds; `script/package` builds the package"),
    ("docs/install.md", "script/dist", "builds for minutes; `script/dist test` runs it"),
    ("docs/install.md", "DIST_PROGRAMS", "builds, and needs Docker"),
    ("docs/install.md", "printf", "needs Docker; `script/dist test` starts the image"),
    ("docs/install.md", "docker compose", "needs Docker"),
    ("docs/install.md", "sudo", "needs systemd; `script/dist test` checks the unit"),
    ("docs/install.md", "install -m", "needs systemd; `script/dist test` checks the unit"),
    ("docs/data.md", "", "`tests/it/folder.rs` moves an account"),
    ("docs/backup.md", "docker compose", "needs Docker"),
    ("docs/backup.md", "promptarium-server backup", "`tests/it/folder.rs` restores a backup"),
    ("docs/upgrade.md", "docker compose", "needs Docker"),
    ("docs/cli.md", "", "needs another program; `cli/tests` runs its commands"),
    ("docs/webhooks.md", "curl", "needs a key; tests/it/webhooks creates one so"),
    ("docs/webhooks.md", "promptarium-server", "needs an account; tests/it/webhooks has one"),
    ("server/README.md", "cargo run", "builds"),
    ("sdk/README.md", "cargo add", "needs a package of its own"),
    ("conformance/README.md", "export PROMPTARIUM_BASE_URL", "the guide has these commands"),
];
/// Starts the server in the background where the page shows its start, and waits until it is ready.
/// A page shows one server at a time, each time with new data.
const PRELUDE: &str = r#"
set -Eeuo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2; cat log >&2 2>/dev/null' ERR
stop() { [[ -z ${server:-} ]] || { kill "$server"; wait "$server" || true; }; server=; }
end() { stop; dropdb --if-exists --force "$DATABASE"; dropdb --if-exists --force "$DATABASE"_restored; }
trap end EXIT
printed_key() { sed -n 's/.*API key *\([^ ]*\).*/\1/p' ready; }
promptarium-server() {
    case "${1:-}" in
        [a-z]*) "$PROGRAM" "$@"; return ;;
    esac
    stop
    rm -rf promptarium-data
    : >ready
    "$PROGRAM" "$@" >ready 2>log &
    server=$!
    until [[ -s ready ]]; do kill -0 "$server"; sleep 0.05; done
}
"#;

/// A page that needs a database which exists.
const DATABASE: &str = "createdb \"$DATABASE\"; export PROMPTARIUM_DATABASE_URL=$DATABASE_URL";

/// A database with one picture in it, and the functions to look at it.
const PICTURE: &str = r#"
promptarium-server
key=$(printed_key)
call() { curl -sS --fail -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "$local$@"; }
local=http://127.0.0.1:$PORT
addresses() { call /api/v1/prompts | grep -o '"url":"[^"]*' | cut -d '"' -f 4; }
call /api/v1/generations -d '{"modelId":"local/plasma","prompt":"A harbour","clientJobId":"first"}' >/dev/null
until call /api/v1/generations/first/status | grep -q '"status":"completed"'; do sleep 0.05; done
old=$(addresses)
"#;

/// After the restore: the key works, and the picture is served at its new address.
const RESTORED: &str = r#"
new=$(addresses)
echo "$old is now $new"
[[ $old == "$local"/assets/* && $new == https://prompts.example/assets/"${old##*/}" ]]
[[ $(curl -sS --fail "$local/assets/${new##*/}" | wc -c) -gt 1000 ]]
"#;

fn blocks(page: &str) -> Vec<String> {
    let text = read(page);
    let blocks = text.split("\n```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(str::to_owned).collect()
}

/// The script of a page; `None` if it has no block that runs here.
fn script(page: &str) -> Option<String> {
    let before: &[&str] = match page {
        "docs/accounts.md" | "docs/upgrade.md" => &[DATABASE],
        "docs/backup.md" => &[DATABASE, PICTURE],
        "docs/monitor.md" => &["promptarium-server"],
        _ => &[],
    };
    let is_excluded = |block: &String| {
        EXCLUDED.iter().any(|(of, start, _)| *of == page && block.starts_with(start))
    };
    let mut blocks = blocks(page);
    blocks.retain(|block| !is_excluded(block));
    for block in
        blocks.iter_mut().filter(|block| page == "docs/backup.md" && block.starts_with("createdb"))
    {
        *block += RESTORED;
    }
    let parts = [PRELUDE].iter().chain(before).copied().chain(blocks.iter().map(String::as_str));
    (!blocks.is_empty()).then(|| parts.collect::<Vec<_>>().join("\n"))
}

/// Runs the script of a page, and gives what it prints.
async fn succeeds(page: &str) -> String {
    let postgres = Url::parse(&std::env::var("PROMPTARIUM_TEST_DATABASE_URL").unwrap()).unwrap();
    let folder = TempDir::new().unwrap();
    let [port, admin] = [free_address(), free_address()].map(|one| one.replace("127.0.0.1:", ""));
    let name = page.split(['/', '.']).rev().nth(1).unwrap().to_lowercase();
    let database = format!("docs_{name}_{port}");
    let restored = format!("{database}_restored");
    let url = |database: &str| {
        let mut url = postgres.clone();
        url.set_path(database);
        url.to_string()
    };
    let mut script = script(page).unwrap();
    for (shown, used) in [
        (":8080", &*format!(":{port}")),
        (":9090", &format!(":{admin}")),
        ("template0 promptarium", &format!("template0 {database}")),
        ("postgres://localhost/promptarium", &url(&database)),
        ("template0 restored", &format!("template0 {restored}")),
        ("postgres://localhost/restored", &url(&restored)),
        ("/srv/", &format!("{}/srv/", folder.path().display())),
        ("promptarium_live_…", "$(printed_key)"),
    ] {
        script = script.replace(shown, used);
    }
    let bin = Command::new(root().join("script/postgres")).arg("bin").output().await.unwrap();
    let bin = String::from_utf8(bin.stdout).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(&folder).env_clear().envs([
        ("PATH", &*format!("{}:/usr/local/bin:/usr/bin:/bin", bin.trim())),
        ("HOME", &*folder.path().to_string_lossy()),
        ("PROGRAM", env!("CARGO_BIN_EXE_promptarium-server")),
        ("PORT", &port),
        ("PROMPTARIUM_LISTEN", &format!("127.0.0.1:{port}")),
        ("PROMPTARIUM_DRAIN_DELAY", "0"),
        ("DATABASE", &database),
        ("DATABASE_URL", &url(&database)),
        ("PGHOST", postgres.host_str().unwrap()),
        ("PGPORT", &postgres.port().unwrap_or(5432).to_string()),
        ("PGUSER", postgres.username()),
        ("PGPASSWORD", postgres.password().unwrap_or_default()),
    ]);
    std::fs::create_dir(folder.path().join("srv")).unwrap();
    shell.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(TIMEOUT, shell.output()).await.expect("an end in time").unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// All pages with commands; `conformance/tests/it` runs those on conformance.
fn pages() -> Vec<String> {
    let crates = ["sdk", "server", "conformance"].map(|name| format!("{name}/README.md"));
    let mut pages = [markdown("docs"), crates.into(), vec!["README.md".to_owned()]].concat();
    pages.retain(|page| !page.starts_with("docs/conformance"));
    pages
}

#[tokio::test]
async fn every_command_runs_and_prints_what_its_page_says() {
    let mut pages = pages();
    pages.retain(|page| script(page).is_some());
    assert!(pages.len() >= 8, "{pages:?}");
    let printed = join_all(pages.iter().map(|page| succeeds(page))).await;
    let of = |page: &str| &printed[pages.iter().position(|other| other == page).unwrap()];
    // Restored with another address and another folder.
    let restored = of("docs/backup.md");
    assert!(restored.contains(" is now https://prompts.example/assets/"), "{restored}");
    // The calls with curl succeed, and the last answers as shown.
    let printed = of("docs/application.md");
    let answers = printed.lines().filter(|line| line.starts_with("{\"data\""));
    let mut answers: Vec<Value> = answers.map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = answers.pop().unwrap();
    assert_eq!(answers.len(), 7, "{printed}");
    assert!(answers.iter().all(|answer| answer["error"].is_null()), "{printed}");
    let page = read("docs/application.md");
    let shown = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(last, serde_json::from_str::<Value>(shown).unwrap());
}

#[test]
fn every_excluded_block_exists() {
    for (page, start, _) in EXCLUDED {
        assert!(blocks(page).iter().any(|block| block.starts_with(start)), "{page}: {start}");
    }
}
