//! Every example runs to its end with nothing set up, and tells what it promises.
//!
//! `cargo test` builds the examples next to this test; they are run as they are.
//! `embed_server` and `testing_your_code` are tests themselves and run as such.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

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
        "image/png is live at http://127.0.0.1:",
        "  completed",
        "3 vaults and 8 prompts",
    ] {
        assert!(told.contains(line), "{line:?} is missing from:\n{told}");
    }
    let pictures = pictures_in(&told);
    assert_eq!(pictures.len(), 2, "{told}");
    for (name, picture) in &pictures {
        let (width, height) = (picture.width(), picture.height());
        assert_eq!(width * 9, height * 16, "{name} is {width} by {height}");
    }
    assert!(pictures[0].1 != pictures[1].1, "two outputs of one job differ");
}

/// The picture files that a run named, opened.
fn pictures_in(told: &str) -> Vec<(String, image::DynamicImage)> {
    let endings = [".png", ".jpg", ".webp", ".gif"];
    let files =
        told.lines().map(str::trim).filter(|line| endings.iter().any(|e| line.ends_with(e)));
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
fn the_quickstart_refuses_arguments_that_it_does_not_know() {
    assert!(!run("quickstart", &["--keep"]).status.success());
}

#[test]
fn an_image_is_uploaded_with_and_without_a_file() {
    let told_alone = told("upload", &[]);
    assert!(told_alone.contains("100 %"), "{told_alone}");
    assert!(told_alone.contains("live at http://127.0.0.1:"), "{told_alone}");

    let folder = std::env::temp_dir().join(format!("promptarium-upload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    image::RgbImage::new(9, 7).save(path("a.jpg")).unwrap();
    std::fs::write(path("b.png"), "no image").unwrap();
    assert!(told("upload", &[&path("a.jpg")]).contains("image/jpeg"));
    let output = run("upload", &[&path("b.png")]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("does not begin as an image"), "{errors}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_generation_is_waited_for_and_its_pictures_are_files() {
    let told = told("generate_and_wait", &["A lighthouse in fog"]);
    for line in ["queued", "completed", "A lighthouse in fog"] {
        assert!(told.contains(line), "{line:?} is missing from:\n{told}");
    }
    assert_eq!(pictures_in(&told).len(), 2, "{told}");
}

#[test]
fn a_generation_that_fails_is_told() {
    let output = run("generate_and_wait", &["A harbour", "local/fail"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the generation \"") && errors.contains("\" failed: "), "{errors}");
}

#[test]
fn a_listing_counts_every_prompt() {
    let all = told("list_all", &[]);
    assert!(all.ends_with("250 prompts in all\n"), "{all}");
    let images = told("list_all", &["image"]);
    assert!(images.ends_with("125 prompts in all\n"), "{images}");
}

#[test]
fn a_program_without_async_does_it_all() {
    let told = told("blocking", &[]);
    for line in [
        "A harbour before sunrise",
        "title: must be 1 to 120 characters, but has 0",
        "image/png is live at http://127.0.0.1:",
        "  completed",
        "3 prompts in Harbours",
    ] {
        assert!(told.contains(line), "{line:?} is missing from:\n{told}");
    }
    assert_eq!(pictures_in(&told).len(), 1, "{told}");
}

#[test]
fn the_spans_of_calls_are_printed() {
    let told = told("tracing_output", &[]);
    let has =
        |words: &[&str]| told.lines().any(|line| words.iter().all(|word| line.contains(word)));
    for words in [
        &["otel.name=\"GET /vaults\"", "attempt{", "http.response.status_code=200", "close"][..],
        &["otel.name=\"GET /prompts\"", "retry after a delay", "error.type=\"503\""],
        &["otel.name=\"GET /prompts\"", "attempt{", "http.request.resend_count=1", "close"],
        &["otel.name=\"GET /prompts/{promptId}\"", "error.type=\"404\"", "close"],
    ] {
        assert!(has(words), "{words:?} are on no line of:\n{told}");
    }
}

#[test]
fn an_unknown_type_is_named() {
    let output = run("list_all", &["sculpture"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no such type: sculpture; try image, text or video"), "{errors}");
}

#[test]
fn each_error_says_what_to_do() {
    let told = told("errors", &[]);
    for line in [
        "POST /prompts: 400 Bad Request: ",
        "  - prompt: must be 1 to 15000 characters, but has 15001",
        "  - title: must be 1 to 120 characters, but has 0",
        "  => go on without",
        "GET /vaults: 401 Unauthorized: ",
        "  => ask a person",
        "GET /vaults: cannot connect to http://127.0.0.1:1 (after 3 attempts)",
        "  Connect, attempts: 3",
        "onnection refused",
        "  => try again in 60s",
        "GET /vaults: timed out after 200ms (timeout) while waiting for http://",
        "the API key cannot be used: it is blank",
    ] {
        assert!(told.contains(line), "{line:?} is missing from:\n{told}");
    }
    assert!(!told.contains("went well") && !told.contains("give up"), "{told}");
}

#[test]
fn a_listing_and_a_job_go_on_in_another_process() {
    let told = told("resume", &[]);
    let (began, finished) = told.split_once("finish").unwrap();
    let studies = |half: &str| half.lines().filter(|line| line.starts_with("  Study")).count();
    assert_eq!((studies(began), studies(finished)), (2, 3), "{told}");
    let job = began.lines().last().unwrap();
    assert!(job.starts_with("  job "), "{told}");
    assert!(finished.contains(&format!("{job}: 1 image")), "{told}");
}

#[test]
fn a_proxy_and_an_authority_are_those_that_were_named() {
    let told = told("custom_http_client", &[]);
    assert!(told.contains("General"), "{told}");

    let away = [("PROMPTARIUM_PROXY", "http://127.0.0.1:1")];
    let output = run_with("custom_http_client", &[], &away);
    assert!(!output.status.success(), "without its proxy it reaches nobody");

    let here = std::env::temp_dir().join(format!("promptarium-ca-{}.pem", std::process::id()));
    std::fs::write(&here, "-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n")
        .unwrap();
    let file = here.display().to_string();
    let output = run_with("custom_http_client", &[], &[("PROMPTARIUM_CA_FILE", &file)]);
    assert!(!output.status.success(), "that is no certificate");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 more certificate authorities"), "{text}");
    std::fs::remove_file(here).unwrap();
}
