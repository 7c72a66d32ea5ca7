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

#[test]
fn the_end_of_a_job_is_that_of_no_other_whose_journal_has_its_id_as_a_part() {
    let library = Library::start();
    let client = promptarium::Client::new(&library.url, &library.key).unwrap();
    let create = client.generations().create("local/plasma", "A harbour").client_job_id("a");
    library._servers.0.block_on(create.send()).unwrap();
    let of = |job: &str| format!("{{\"event\":\"begin\",\"job\":\"{job}\"}}");
    let folder = "state/promptarium/generations";
    library.write(&format!("{folder}/1.journal"), &of("paid"));
    library.write(&format!("{folder}/2.journal"), &of("a"));
    library.ok(&["generate", "--resume", "a", "-o", "out"]);
    assert_eq!(library.names(folder), ["1.journal"]);
    assert_eq!(library.names("out").len(), 1);
}
