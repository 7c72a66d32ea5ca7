//! What rustdoc says of the SDK, as JSON.
//!
//! The form of that JSON changes with the toolchain, so one toolchain counts: the one
//! that is running if it is of that version, else the installed one of that name. On
//! a machine with neither the tests have nothing to look at and say so; in CI that is
//! a failure.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use rustdoc_types::{Crate, FORMAT_VERSION};
use serde_json::Value;

/// Writes the form that `rustdoc-types` reads. `.github/workflows/ci.yml` installs it.
const TOOLCHAIN: &str = "1.95.0";

/// A set of features of the SDK, as arguments of cargo.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Whole,
    ModelsOnly,
}

impl Build {
    const fn feature(self) -> &'static str {
        match self {
            Self::Whole => "--all-features",
            Self::ModelsOnly => "--no-default-features",
        }
    }
}

/// What rustdoc wrote about one build.
#[derive(Clone)]
pub(crate) struct Json(String);

impl Json {
    pub(crate) fn read(&self) -> Crate {
        serde_json::from_str(&self.0).unwrap()
    }

    /// Kept in a file of its own: `public-api` reads files only.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&file, &self.0).unwrap();
        file
    }
}

/// `None` where no toolchain writes the form that is read here.
pub(crate) fn json(build: Build) -> Option<Json> {
    let json = written(build);
    if json.is_none() {
        let text = format!(
            "not looked at: this rustdoc writes another form of JSON than {TOOLCHAIN}; \
             `rustup toolchain install {TOOLCHAIN}` gives one that fits"
        );
        assert!(env::var_os("CI").is_none(), "{text}");
        eprintln!("{text}");
    }
    json
}

/// Written once, and one after the other: all builds go to the same place.
fn written(build: Build) -> Option<Json> {
    static WRITTEN: Mutex<BTreeMap<Build, Option<Json>>> = Mutex::new(BTreeMap::new());
    // Where another test failed, this one is to say why itself.
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let json = written.entry(build).or_insert_with(|| {
        let json = write(build);
        let value: Value = serde_json::from_str(&json.0).unwrap();
        (value["format_version"] == FORMAT_VERSION).then_some(json)
    });
    json.clone()
}

fn write(build: Build) -> Json {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = cargo();
    cargo.args(["rustdoc", "--locked", "--quiet", "--lib", "--package", "promptarium"]);
    cargo.arg(build.feature()).arg("--target-dir").arg(target);
    cargo.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
    cargo.env("RUSTDOC", Path::new(env!("CARGO_MANIFEST_DIR")).join("rustdoc"));
    let done = cargo.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Json(fs::read_to_string(target.join("doc/promptarium.json")).unwrap())
}

fn cargo() -> Command {
    let says = |program: &str, argument: &[&str]| {
        let output = Command::new(program).args(argument).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let running = says("rustdoc", &["--version"]).unwrap_or_default();
    let installed = says("rustup", &["toolchain", "list"]).unwrap_or_default();
    let fits = running.starts_with(&format!("rustdoc {TOOLCHAIN} "));
    if fits || !installed.lines().any(|line| line.starts_with(TOOLCHAIN)) {
        return Command::new(env!("CARGO"));
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["run", TOOLCHAIN, "cargo"]);
    rustup
}
