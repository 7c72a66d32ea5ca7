//! Every example runs to its end with nothing set up, and tells what it promises.
//!
//! `cargo test` builds the examples next to this test; they are run as they are.
//! `embed_server` is a test itself and runs as one.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test helper that fails is a failed test")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(example: &str, arguments: &[&str]) -> Output {
    let here = std::env::current_exe().unwrap();
    let built = here.ancestors().nth(2).map_or_else(PathBuf::new, |dir| dir.join("examples"));
    let program = built.join(example);
    Command::new(&program)
        .args(arguments)
        .env_remove("PROMPTARIUM_BASE_URL")
        .env_remove("PROMPTARIUM_API_KEY")
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; build the examples first", program.display()))
}

/// What a successful run printed.
fn told(example: &str, arguments: &[&str]) -> String {
    let output = run(example, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example} ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tour_goes_all_the_way() {
    let told = told("quickstart", &[]);
    for line in [
        "Landscapes (unlisted)",
        "General (private, made by the service)",
        "A lighthouse in fog (image)",
        "* A harbour before sunrise",
        "Landscapes (private), 3 prompts",
        "A harbour at first light, for print",
        "A harbour at first light, for nothing in particular",
        "title: must be 1 to 120 characters, but has 0",
        "prompt: must be 1 to 15000 characters, but has 15001",
        "not found? true",
        "3 vaults and 7 prompts",
    ] {
        assert!(told.contains(line), "{line:?} is missing from:\n{told}");
    }
}

#[test]
fn a_listing_counts_every_prompt() {
    let all = told("list_all", &[]);
    assert!(all.ends_with("250 prompts in all\n"), "{all}");
    let images = told("list_all", &["image"]);
    assert!(images.ends_with("125 prompts in all\n"), "{images}");
}

#[test]
fn an_unknown_type_is_named() {
    let output = run("list_all", &["sculpture"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no such type: sculpture; try image, text or video"), "{errors}");
}
