//! Uploads and generations.

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
fn a_folder_that_cannot_be_made_is_noticed_before_anything_is_paid() {
    let library = Library::start();
    library.write("file", "");
    let ran = library.run(&["generate", "local/plasma", "A harbour", "-o", "file/out"]);
    assert!(ran.code == Some(1) && ran.stderr.starts_with("promptarium: file/out"), "{ran:?}");
    assert_eq!(library.ok(&["ls"]), "");
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
