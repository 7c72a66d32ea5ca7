//! The guide for servers in other languages: its commands, typed one after the other, say `passed`
//! on the reference server.

use std::path::PathBuf;
use std::process::Command;

use promptarium_server::{EmbeddedServer, EmbeddedServerBuilder};

use crate::program::{Ran, blocks, folder};

const PAGE: &str = "conformance-languages.md";

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

/// A folder with the program under its name.
fn program_folder() -> PathBuf {
    let folder = folder("guide-languages");
    let program = env!("CARGO_BIN_EXE_promptarium-conformance");
    std::os::unix::fs::symlink(program, folder.join("promptarium-conformance")).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_work_and_its_first_run_passes() {
    let commands = blocks(PAGE, "sh");
    let (server, folder) = (server(&commands).await, program_folder());
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
    let printed: Vec<_> = ran.out.split("---\n").collect();
    let [_, first, one_call, explained] = printed.try_into().unwrap();
    assert!(first.ends_with("verdict: passed\n"), "{first}");
    assert!(one_call.contains("verdict: passed"), "{one_call}");
    assert!(explained.contains("POST /prompts"), "{explained}");
}
