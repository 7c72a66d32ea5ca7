//! Every example runs without set-up, and prints what its documentation says.
//!
//! `cargo test` builds the examples next to this test.
//! `embed_server` and `testing_your_code` are tests themselves and run as such; `import_folder` has
//! one too, which runs with `cargo test --examples`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod kill;
mod proxy;
mod web;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn run(example: &str, arguments: &[&str]) -> Output {
    run_with(example, arguments, &[])
}

fn program(example: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let built = here.ancestors().nth(2).map_or_else(PathBuf::new, |dir| dir.join("examples"));
    built.join(example)
}

fn run_with(example: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let program = program(example);
    Command::new(&program)
        .args(arguments)
        .env_remove("PROMPTARIUM_BASE_URL")
        .env_remove("PROMPTARIUM_API_KEY")
        .envs(environment.iter().copied())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; build the examples first", program.display()))
}

/// The standard output of a successful run.
fn output_of(example: &str, arguments: &[&str]) -> String {
    let output = run(example, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example} ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_receiver_of_webhooks_gets_a_verified_event() {
    let output = output_of("webhook", &[]);
    for line in ["queued ", "received generation.completed (msg_", "downloaded an image of "] {
        assert!(output.contains(line), "no {line} in {output}");
    }
}

#[test]
fn the_layers_of_tower_see_each_request() {
    let output = output_of("tower", &[]);
    for line in ["  GET /api/v1/vaults", "  200 OK", "vault 1: "] {
        assert!(output.contains(line), "no {line} in {output}");
    }
}

#[test]
fn the_quickstart_runs_to_its_end() {
    let output = output_of("quickstart", &[]);
    for line in [
        "Landscapes (unlisted)",
        "General (private, created by the service)",
        "A lighthouse in fog (image)",
        "* A harbour before sunrise",
        "Landscapes (private), 3 prompts",
        "A harbour at first light, for print",
        "A harbour at first light, for no platform",
        "title: must be 1 to 120 characters, but has 0",
        "prompt: must be 1 to 15000 characters, but has 15001",
        "not found? true",
        "image/png uploaded to http://127.0.0.1:",
        "  completed",
        "3 vaults and 8 prompts",
        "cargo run --example quickstart -- --keep-running",
    ] {
        assert!(output.contains(line), "{line:?} is missing from:\n{output}");
    }
    let images = images_in(&output);
    assert_eq!(images.len(), 2, "{output}");
    for (name, picture) in &images {
        let (width, height) = (picture.width(), picture.height());
        assert_eq!(width * 9, height * 16, "{name} is {width} by {height}");
    }
    assert!(images[0].1 != images[1].1, "two outputs of one job differ");
}

/// The image files that a run named, decoded.
fn images_in(output: &str) -> Vec<(String, image::DynamicImage)> {
    let extensions = [".png", ".jpg", ".webp", ".gif"];
    let files =
        output.lines().map(str::trim).filter(|line| extensions.iter().any(|e| line.ends_with(e)));
    let files = files.filter(|line| !line.contains("://"));
    let open = |file: &str| image::open(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    files.map(|file| (file.to_owned(), open(file))).collect()
}

#[test]
fn the_quickstart_that_keeps_running_has_a_link_to_the_dashboard() {
    let mut tour = Command::new(program("quickstart"))
        .arg("--keep-running")
        .env_remove("PROMPTARIUM_BASE_URL")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tour.stdout.take().unwrap()).lines();
    let found = lines.any(|line| line.unwrap().contains("/sign-in#"));
    tour.kill().unwrap();
    tour.wait().unwrap();
    assert!(found);
}

#[test]
fn the_server_is_the_program() {
    assert!(output_of("server", &["--version"]).starts_with("promptarium-server "));
}

#[test]
fn the_quickstart_rejects_unknown_arguments() {
    assert!(!run("quickstart", &["--keep"]).status.success());
}

#[test]
fn an_image_is_uploaded_with_and_without_a_file() {
    let own = output_of("upload", &[]);
    assert!(own.contains("100 %"), "{own}");
    assert!(own.contains("uploaded to http://127.0.0.1:"), "{own}");

    let folder = std::env::temp_dir().join(format!("promptarium-upload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    image::RgbImage::new(9, 7).save(path("a.jpg")).unwrap();
    std::fs::write(path("b.png"), "no image").unwrap();
    assert!(output_of("upload", &[&path("a.jpg")]).contains("image/jpeg"));
    let output = run("upload", &[&path("b.png")]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("unknown signature"), "{errors}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_images_of_a_generation_are_saved_as_files() {
    let output = output_of("generate_and_wait", &["A lighthouse in fog"]);
    for line in ["queued", "completed", "A lighthouse in fog"] {
        assert!(output.contains(line), "{line:?} is missing from:\n{output}");
    }
    assert_eq!(images_in(&output).len(), 2, "{output}");
}

#[test]
fn a_failed_generation_is_an_error() {
    let output = run("generate_and_wait", &["A harbour", "local/fail"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the generation \"") && errors.contains("\" failed: "), "{errors}");
}

#[test]
fn a_list_has_every_prompt() {
    let all = output_of("list_all", &[]);
    assert!(all.ends_with("250 prompts in all\n"), "{all}");
    let images = output_of("list_all", &["image"]);
    assert!(images.ends_with("125 prompts in all\n"), "{images}");
}

#[test]
fn the_blocking_example_runs_to_its_end() {
    let output = output_of("blocking", &[]);
    for line in [
        "A harbour before sunrise",
        "title: must be 1 to 120 characters, but has 0",
        "image/png uploaded to http://127.0.0.1:",
        "  completed",
        "3 prompts in Harbours",
    ] {
        assert!(output.contains(line), "{line:?} is missing from:\n{output}");
    }
    assert_eq!(images_in(&output).len(), 1, "{output}");
}

#[test]
fn the_spans_of_calls_are_printed() {
    let output = output_of("tracing_output", &[]);
    let has =
        |words: &[&str]| output.lines().any(|line| words.iter().all(|word| line.contains(word)));
    for words in [
        &["otel.name=\"GET /vaults\"", "attempt{", "http.response.status_code=200", "close"][..],
        &["otel.name=\"GET /prompts\"", "retry after a delay", "error.type=\"503\""],
        &["otel.name=\"GET /prompts\"", "attempt{", "http.request.resend_count=1", "close"],
        &["otel.name=\"GET /prompts/{promptId}\"", "error.type=\"404\"", "close"],
    ] {
        assert!(has(words), "{words:?} are on no line of:\n{output}");
    }
}

#[test]
fn an_unknown_type_is_an_error() {
    let output = run("list_all", &["sculpture"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no such type: sculpture; try image, text or video"), "{errors}");
}

#[test]
fn each_error_is_reported_with_what_to_do() {
    let output = output_of("errors", &[]);
    for line in [
        "POST /prompts: 400 Bad Request: ",
        "  - prompt: must be 1 to 15000 characters, but has 15001",
        "  - title: must be 1 to 120 characters, but has 0",
        "  => continue without it",
        "GET /vaults: 401 Unauthorized: ",
        "  => change the input or the key",
        "GET /vaults: cannot connect to http://127.0.0.1:1: Connection refused",
        "  connect, attempts: 3",
        "onnection refused",
        "  => try again in 60s",
        "GET /vaults: timed out after 200ms (timeout) while waiting for http://",
        "the API key cannot be used: it is blank",
    ] {
        assert!(output.contains(line), "{line:?} is missing from:\n{output}");
    }
    assert!(!output.contains("success") && !output.contains("give up"), "{output}");
}

#[test]
fn a_list_and_a_job_resume_in_another_process() {
    let output = output_of("resume", &[]);
    let (began, finished) = output.split_once("finish").unwrap();
    let studies = |half: &str| half.lines().filter(|line| line.starts_with("  Study")).count();
    assert_eq!((studies(began), studies(finished)), (2, 3), "{output}");
    let job = began.lines().last().unwrap();
    assert!(job.starts_with("  job "), "{output}");
    assert!(finished.contains(&format!("{job}: 1 image")), "{output}");
}

#[test]
fn a_folder_is_imported() {
    let output = output_of("import_folder", &[]);
    assert!(output.contains("All 4 entries are imported"), "{output}");
}

#[test]
fn a_file_that_cannot_be_imported_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "Dusk").unwrap();
    let output = run("import_folder", &[&folder.path().display().to_string()]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("a.txt: the file has no second line"), "{errors}");
    assert!(errors.contains("1 of 1 entries failed; start it again to continue"), "{errors}");
}

#[test]
fn a_proxy_and_a_certificate_authority_can_be_set() {
    let output = output_of("custom_http_client", &[]);
    assert!(output.contains("General"), "{output}");

    let proxy = [("PROMPTARIUM_PROXY", "http://127.0.0.1:1")];
    let output = run_with("custom_http_client", &[], &proxy);
    assert!(!output.status.success(), "the proxy is not there");

    let here = std::env::temp_dir().join(format!("promptarium-ca-{}.pem", std::process::id()));
    std::fs::write(&here, "-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n")
        .unwrap();
    let file = here.display().to_string();
    let output = run_with("custom_http_client", &[], &[("PROMPTARIUM_CA_FILE", &file)]);
    assert!(!output.status.success(), "the certificate is invalid");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 more certificate authorities"), "{text}");
    std::fs::remove_file(here).unwrap();
}
