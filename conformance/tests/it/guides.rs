//! The guides for servers in other languages: their commands, typed one after the other, say
//! `passed` on the reference server.

use std::path::PathBuf;
use std::process::Command;

use promptarium_server::{EmbeddedServer, EmbeddedServerBuilder};

use crate::program::{Ran, blocks, folder};

/// The key that the guide gives to a variable.
fn key<'c>(commands: &'c [String], variable: &str) -> &'c str {
    let start = format!("export {variable}=");
    let mut lines = commands.iter().flat_map(|block| block.lines());
    lines.find_map(|line| line.strip_prefix(&start)).unwrap()
}

/// The reference server with the accounts and keys that the guide names.
async fn server(commands: &[String]) -> EmbeddedServer {
    let seeds = [
        ("PROMPTARIUM_API_KEY", "alice:prompts:write"),
        ("PROMPTARIUM_READ_ONLY_API_KEY", "alice:none"),
        ("PROMPTARIUM_OTHER_API_KEY", "bob:prompts:write"),
        ("PROMPTARIUM_REVOKED_API_KEY", "alice:revoked"),
    ];
    let seeds = seeds.map(|(variable, of)| format!("{}={of}", key(commands, variable)));
    let builder =
        seeds.into_iter().fold(EmbeddedServer::builder(), EmbeddedServerBuilder::seed_key);
    builder.start().await.unwrap()
}

/// A folder with the program under its name, and an `npx` that starts it.
fn programs(guide: &str) -> PathBuf {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder(&format!("guide-{guide}"));
    symlink(env!("CARGO_BIN_EXE_promptarium-conformance"), folder.join("promptarium-conformance"))
        .unwrap();
    let npx = folder.join("npx");
    std::fs::write(&npx, "#!/bin/sh\nexec \"$@\"\n").unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

async fn typed(guide: &str) -> Vec<String> {
    let commands = blocks(&format!("conformance-{guide}.md"), "sh");
    let (server, folder) = (server(&commands).await, programs(guide));
    let mut path = vec![folder.clone()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    // A mark after each block divides what the blocks print.
    let script = commands.join("\necho ---\n");
    let script = script.replace("http://127.0.0.1:8080/api/v1", server.base_url());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &script]).current_dir(&folder);
    shell.env("PATH", std::env::join_paths(path).unwrap());
    let ran = Ran::of(shell).await.ended(0, &[]);
    server.shutdown().await;
    ran.out.split("---\n").map(str::to_owned).collect()
}

/// The commands of one guide are typed. Those of the others differ from them in `npx` only.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_each_guide_work_and_its_first_run_passes() {
    let commands = |guide: &str| blocks(&format!("conformance-{guide}.md"), "sh");
    let [_, first, one_call, explained] = typed("typescript").await.try_into().unwrap();
    assert!(first.ends_with("verdict: passed\n"), "{first}");
    assert!(one_call.contains("verdict: passed"), "{one_call}");
    assert!(explained.contains("POST /prompts"), "{explained}");
    let plain: Vec<_> =
        commands("typescript").iter().map(|block| block.replace("npx ", "")).collect();
    for guide in ["go", "python"] {
        assert_eq!(commands(guide), plain, "{guide}");
    }
}
