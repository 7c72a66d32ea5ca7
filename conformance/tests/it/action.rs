//! The action for GitHub: what it says exists, and no input becomes a command.

use std::collections::BTreeMap;
use std::process::Command;

use yaml_serde::Value as Yaml;

use crate::prelude::*;

fn read(file: &str) -> String {
    text(root().join(file))
}

fn entries(yaml: &Yaml) -> Vec<(&str, &Yaml)> {
    let entries = yaml.as_mapping().unwrap().iter();
    entries.map(|(key, value)| (key.as_str().unwrap(), value)).collect()
}

fn action() -> Yaml {
    yaml_serde::from_str(&read("action.yml")).unwrap()
}

fn inputs() -> BTreeMap<String, String> {
    let default = |input: &Yaml| input["default"].as_str().unwrap().to_owned();
    let action = action();
    let inputs = entries(&action["inputs"]).into_iter();
    inputs.map(|(name, input)| (name.to_owned(), default(input))).collect()
}

/// The variables and the script of the step whose name begins so, as the runner makes them of these
/// inputs.
fn step(begins: &str, given: &[(&str, &str)]) -> (Vec<(String, String)>, String) {
    let mut inputs = inputs();
    for (name, value) in given {
        assert!(inputs.insert((*name).to_owned(), (*value).to_owned()).is_some(), "{name}");
    }
    let action = action();
    let mut steps = action["runs"]["steps"].as_sequence().unwrap().iter();
    let step = steps.find(|step| step["name"].as_str().unwrap().starts_with(begins)).unwrap();
    let value = |value: &Yaml| {
        let name = value.as_str().unwrap().trim_start_matches("${{ ").trim_end_matches(" }}");
        match name.split_once('.').unwrap() {
            ("inputs", name) => inputs[name].clone(),
            ("github", "action_repository") => "acme/promptarium".to_owned(),
            ("github", "action_path") => root().display().to_string(),
            _ => panic!("{name}"),
        }
    };
    let variables = entries(&step["env"]).into_iter();
    let variables = variables.map(|(name, from)| (name.to_owned(), value(from))).collect();
    (variables, step["run"].as_str().unwrap().to_owned())
}

/// A step, as the runner starts it with a folder more in the path.
fn shell(begins: &str, given: &[(&str, &str)], programs: &Path) -> Command {
    let (variables, script) = step(begins, given);
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]).env_clear();
    command.env("PATH", path).envs(variables);
    command
}

async fn run(folder: &Path, key: &str, given: &[(&str, &str)]) -> Ran {
    let programs = Path::new(env!("CARGO_BIN_EXE_promptarium-conformance")).parent().unwrap();
    let mut command = shell("Run", given, programs);
    command.env("PROMPTARIUM_API_KEY", key);
    command.env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    command.env("GITHUB_OUTPUT", folder.join("output")).current_dir(folder);
    Ran::of(command).await
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

const REPORTS: [&str; 5] = ["report.html", "report.json", "report.md", "report.txt", "report.xml"];

#[tokio::test]
async fn the_step_runs_what_is_selected_and_leaves_summary_and_reports() {
    let server = EmbeddedServer::start().await.unwrap();
    let folder = folder("action-good");
    let given = [
        ("base-url", server.base_url()),
        ("filters", "vaults.create.answer\n  vaults.create.defaults "),
        ("strict", "true"),
    ];
    let ran = run(&folder, server.api_key(), &given).await;
    server.shutdown().await;
    ran.ended(0, &["verdict: passed"]);
    assert_eq!(names(&folder), ["conformance-report", "output", "summary.md"]);
    assert_eq!(names(&folder.join("conformance-report")), REPORTS);
    let read = |file: &str| text(folder.join(file));
    assert_eq!(read("summary.md"), read("conformance-report/report.md"));
    assert!(read("summary.md").contains("2 scenarios in"), "{}", read("summary.md"));
    assert_eq!(read("output"), "exit-code=0\n");
}

#[tokio::test]
async fn the_step_fails_as_the_program_does_and_reports_all_the_same() {
    let stub = Stub::always(Answer::Json(200, r#"{"data":["::error::told"]}"#.into())).await;
    let folder = folder("action-bad");
    std::fs::create_dir(folder.join("-here")).unwrap();
    std::fs::write(folder.join("-here/report.md"), "of an earlier run").unwrap();
    let given = [
        ("base-url", stub.base_url.as_str()),
        ("filters", "vaults.create.answer"),
        ("report-folder", "-here"),
    ];
    let told = run(&folder, KEY, &given).await.ended(1, &[]).out;
    assert_eq!(names(&folder.join("-here")), REPORTS);
    let summary = text(folder.join("summary.md"));
    assert!(summary.starts_with("## ❌") && !summary.contains("earlier"), "{summary}");
    assert_eq!(text(folder.join("output")), "exit-code=1\n");
    // Between the two the runner takes nothing for a command.
    let lines: Vec<_> = told.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").unwrap();
    let end = lines.iter().position(|line| *line == format!("::{token}::")).unwrap();
    assert!(lines[end + 1..].iter().all(|line| line.starts_with("::error title=vaults.")));
    assert_eq!(lines.len(), end + 2, "{told}");
    assert!(token.len() >= 32 && told.matches(token).count() == 2);
}

#[tokio::test]
async fn no_input_becomes_a_command_or_a_flag() {
    let hostile =
        "$(touch pwned) `touch pwned`; touch pwned\n& touch pwned | \"' --keep * --seed=1";
    for (name, _) in inputs() {
        if name == "version" {
            continue;
        }
        let folder = folder("action-hostile");
        std::fs::write(folder.join("file"), "").unwrap();
        let base_url = [("base-url", "http://127.0.0.1:1/api/v1"), (&name, hostile)];
        let given = if name == "base-url" { &base_url[1..] } else { &base_url[..] };
        let code = if name == "report-folder" { 3 } else { 2 };
        let ran = run(&folder, KEY, given).await.ended(code, &[]);
        assert!(!names(&folder).contains(&"pwned".to_owned()), "{name}");
        assert!(!ran.err.contains("unexpected argument"), "{name}: {}", ran.err);
    }
}

#[test]
fn expressions_stand_in_variables_only() {
    for step in action()["runs"]["steps"].as_sequence().unwrap() {
        if step.get("uses").is_some() {
            continue;
        }
        assert!(!step["run"].as_str().unwrap().contains("${{"));
        assert_eq!(step["shell"].as_str(), Some("bash"));
    }
    let script = read("script/conformance-action");
    assert!(!script.contains("eval") && script.contains("set -euo pipefail"));
}

#[tokio::test]
async fn every_flag_that_the_action_uses_exists() {
    let help = program(&["run", "--help"], &[]).await.out;
    let script = read("script/conformance-action");
    let run = script.split("\nrun() {").nth(1).unwrap();
    let words = run.split(|one: char| !one.is_ascii_alphanumeric() && one != '-');
    let flags: Vec<_> = words.filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() >= 7, "{flags:?}");
    for flag in flags {
        assert!([' ', '\n'].iter().any(|end| help.contains(&format!("{flag}{end}"))), "{flag}");
    }
}

#[test]
fn every_input_is_read_and_is_in_the_guide_and_no_other() {
    let guide = read("docs/conformance.md");
    let table = guide.split("| input | meaning |\n|---|---|\n").nth(1).unwrap();
    let rows = table.lines().map_while(|line| line.strip_prefix("| `")?.split('`').next());
    let mut told: Vec<_> = rows.map(str::to_owned).collect();
    told.sort();
    assert_eq!(told, inputs().into_keys().collect::<Vec<_>>());
    let (action, script) = (read("action.yml"), read("script/conformance-action"));
    for name in inputs().keys() {
        assert!(action.contains(&format!("${{{{ inputs.{name} }}}}")), "{name}");
        let variable = format!("CONFORMANCE_{}", name.to_uppercase().replace('-', "_"));
        assert!(script.contains(&variable), "{name}");
    }
}

#[test]
fn the_workflow_of_the_guide_uses_inputs_that_exist() {
    let workflow: &Yaml = &yaml_serde::from_str(&blocks("conformance.md", "yaml")[0]).unwrap();
    let steps = workflow["jobs"]["conformance"]["steps"].as_sequence().unwrap();
    let ours = steps.iter().find(|step| step["uses"].as_str().unwrap().contains("/promptarium@"));
    for (name, _) in entries(&ours.unwrap()["with"]) {
        assert!(inputs().contains_key(name), "{name}");
    }
    for (name, value) in entries(&ours.unwrap()["env"]) {
        assert_eq!(value.as_str(), Some(format!("${{{{ secrets.{name} }}}}").as_str()));
    }
}

/// The step that installs as the file has it, with a release in a folder in place of GitHub.
fn installed(release: &Path, temporary: &Path) -> Ran {
    let curl = temporary.join("curl");
    let address = "https://github.com/acme/promptarium/releases/download";
    let text = format!("#!/bin/sh\ncp \"{}${{6#{address}}}\" \"$5\"\n", release.display());
    std::fs::write(&curl, text).unwrap();
    let made = Command::new("chmod").arg("+x").arg(&curl).status().unwrap();
    assert!(made.success());
    let mut command = shell("Install", &[("version", "9.9.9")], temporary);
    // Of the runner; this one is empty in the steps of a composite action.
    command.env("GITHUB_ACTION_REPOSITORY", "");
    command.env("RUNNER_TEMP", temporary).env("GITHUB_PATH", temporary.join("path"));
    command.output().unwrap().into()
}

#[test]
fn the_cache_has_a_key_for_each_checkout_and_version() {
    let key = |version: &str| {
        let folder = folder("action-key");
        let mut command = shell("Name", &[("version", version)], &folder);
        let ran: Ran = command.env("GITHUB_OUTPUT", folder.join("output")).output().unwrap().into();
        ran.ended(0, &[]);
        text(folder.join("output"))
    };
    assert_eq!(key("9.9.9\nexit-code=0"), "key=9.9.9exit-code0\n");
    assert!(key("").len() > 12 && key("") == key(""), "{}", key(""));
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_released_binary_is_downloaded_and_one_with_a_wrong_checksum_is_refused() {
    let (release, temporary) = (folder("release"), folder("runner"));
    let files = folder("release/v9.9.9");
    let archive = "promptarium-conformance-x86_64-unknown-linux-musl.tar.gz";
    let pack = format!(
        "printf '#!/bin/sh\\necho binary\\n' >promptarium-conformance &&
         chmod +x promptarium-conformance && tar -czf {archive} promptarium-conformance &&
         sha256sum {archive} >{archive}.sha256"
    );
    let packed = Command::new("bash").args(["-c", &pack]).current_dir(&files).status().unwrap();
    assert!(packed.success());
    installed(&release, &temporary).ended(0, &[]);
    let path = text(temporary.join("path"));
    let program = Path::new(path.trim()).join("promptarium-conformance");
    assert_eq!(Ran::from(Command::new(program).output().unwrap()).out, "binary\n");

    // It is kept for the next run, and downloaded again without the cache.
    std::fs::write(files.join(archive), "other bytes").unwrap();
    installed(&release, &temporary).ended(0, &[]);
    std::fs::remove_dir_all(temporary.join("promptarium-conformance")).unwrap();
    installed(&release, &temporary).ended(2, &["does not match its checksum"]);
}
