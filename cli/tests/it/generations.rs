//! Uploads and generations.

use std::process::Stdio;

use crate::program::Library;

#[test]
fn pictures_are_generated_and_downloaded() {
    let library = Library::start();
    let arguments = ["generate", "local/plasma", "A harbour", "--count", "2", "-o", "out"];
    let files = library.ok(&arguments);
    assert_eq!(files.lines().count(), 2, "{files}");
    assert_eq!(library.names("out").len(), 2);
    assert!(library.names("out")[0].starts_with("a-harbour-"));
    // The same order again is a new one.
    library.ok(&arguments);
    assert_eq!(library.names("out").len(), 4);
    assert_eq!(library.names("state/promptarium/generations"), [""; 0]);
    let uploaded = library.ok(&["upload", files.lines().next().unwrap()]);
    assert!(uploaded.starts_with("http://"), "{uploaded}");
}

#[test]
fn without_a_folder_the_addresses_are_printed() {
    let library = Library::start();
    let url = library.ok(&["generate", "local/plasma", "A harbour", "--ratio", "16:9"]);
    assert!(url.starts_with("http://") && url.ends_with(".png"), "{url}");
}

#[test]
fn a_job_that_fails_says_why_and_is_not_waited_for_again() {
    let library = Library::start();
    for _ in 0..2 {
        let ran = library.run(&["generate", "local/fail", "A harbour"]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(!ran.stderr.contains("interrupted"), "{ran:?}");
    }
    let ran = library.run(&["generate", "--resume", "no-such-job"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_the_job_and_resume_or_the_same_command_continues_it() {
    let library = Library::start();
    let arguments = ["generate", "local/slow", "A harbour"];
    let mut command = library.command(&arguments);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    // The journal tells when the job is queued.
    let journals = library.folder.path().join("state/promptarium/generations");
    let is_queued = || {
        let entries = std::fs::read_dir(&journals).into_iter().flatten().flatten();
        entries
            .filter_map(|it| std::fs::read_to_string(it.path()).ok())
            .any(|it| it.contains("\"done\""))
    };
    while !is_queued() {
        std::thread::yield_now();
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let id = stderr.lines().last().unwrap().rsplit(' ').next().unwrap().to_owned();
    assert!(stderr.contains(&format!("promptarium generate --resume {id}")), "{stderr}");

    let again = library.run(&arguments);
    assert!(again.stderr.contains("interrupted"), "{again:?}");
    assert_eq!(library.ok(&["generate", "--resume", &id]), again.stdout.trim_end());
    assert_eq!(library.ok(&["ls"]).lines().count(), 1, "one job was queued");
}
