//! The guide for servers in other languages: its commands, typed one after the other, say `passed`
//! on the reference server.

use std::process::Command;

use crate::keys::builder_with;
use crate::prelude::*;

const PAGE: &str = "conformance-languages.md";

/// The reference server with the accounts and keys that the guide names.
async fn server(commands: &[String]) -> EmbeddedServer {
    let seeds = [
        ("PROMPTARIUM_API_KEY", "alice:prompts:write"),
        ("PROMPTARIUM_READ_ONLY_API_KEY", "alice:none"),
        ("PROMPTARIUM_OTHER_API_KEY", "bob:prompts:write"),
        ("PROMPTARIUM_REVOKED_API_KEY", "alice:revoked"),
    ];
    let key = |variable: &str| {
        let mut lines = commands.iter().flat_map(|block| block.lines());
        lines.find_map(|line| line.strip_prefix(&format!("export {variable}="))).unwrap()
    };
    let seeds = seeds.map(|(variable, of)| format!("{}={of}", key(variable)));
    builder_with(seeds).start().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_work_and_its_first_run_passes() {
    let commands = blocks(PAGE, "sh");
    let (server, folder) = (server(&commands).await, folder("guide-languages"));
    let program = env!("CARGO_BIN_EXE_promptarium-conformance");
    std::os::unix::fs::symlink(program, folder.join("promptarium-conformance")).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    // A mark after each block divides what the blocks print.
    let script = commands.join("\necho ---\n");
    let script = script.replace("http://127.0.0.1:8080/api/v1", server.base_url());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &script]).current_dir(&folder).env("PATH", path);
    let ran = Ran::of(shell).await.ended(0, &[]);
    server.shutdown().await;
    let printed: Vec<_> = ran.out.split("---\n").collect();
    let [_, first, one_call, explained] = printed.try_into().unwrap();
    assert!(first.ends_with("verdict: passed\n"), "{first}");
    assert!(one_call.contains("verdict: passed"), "{one_call}");
    assert!(explained.contains("POST /prompts"), "{explained}");
}
