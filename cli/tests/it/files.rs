//! Export and import.

use std::fs;
use std::time::SystemTime;

use crate::program::Library;

fn modified(library: &Library, name: &str) -> SystemTime {
    fs::metadata(library.folder.path().join(name)).unwrap().modified().unwrap()
}

#[test]
fn an_export_has_a_file_for_each_prompt_and_rewrites_only_what_changed() {
    let library = Library::start();
    library.ok(&["vault", "new", "Writing"]);
    library.ok(&["new", "Tone: be kind", "Be kind.\n\n---\n", "--vault", "Writing"]);
    library.ok(&["new", "🌊", "Sea", "--platform", "llm"]);
    assert_eq!(library.ok(&["export", "out"]), "2 prompts: 2 files written, 0 deleted");
    assert_eq!(library.names("out"), [".promptarium", "ocean-2.md", "tone-be-kind-1.md"]);
    let file = library.read("out/tone-be-kind-1.md");
    let updated = library.json(&["show", "1"])[0]["updatedAt"].as_str().unwrap().to_owned();
    let expected = format!(
        "---\nid: 1\ntitle: 'Tone: be kind'\ntype: text\nvaults:\n- Writing\nupdatedAt: {updated}\n---\n\nBe kind.\n\n---\n\n"
    );
    assert_eq!(file, expected);

    library.write("2.md", "---\ntitle: Sea\nplatform: llm\n---\n\nSea\n");
    library.ok(&["edit", "2", "--from", "2.md"]);
    let before = modified(&library, "out/tone-be-kind-1.md");
    assert_eq!(library.ok(&["export", "out"]), "2 prompts: 1 files written, 0 deleted");
    assert_eq!(modified(&library, "out/tone-be-kind-1.md"), before);
    // The name stays when the title changes.
    assert!(library.read("out/ocean-2.md").contains("title: Sea"));
}

#[test]
fn files_of_prompts_that_are_gone_are_deleted_only_if_asked_and_others_never() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    library.ok(&["new", "B", "b"]);
    library.ok(&["export", "out"]);
    library.write("out/notes-7.md", "mine");
    library.ok(&["rm", "1", "--yes"]);
    let kept = library.run(&["export", "out"]);
    assert!(kept.stderr.contains("--delete"), "{kept:?}");
    assert_eq!(library.ok(&["export", "out", "--delete"]), "1 prompts: 0 files written, 1 deleted");
    assert_eq!(library.names("out"), [".promptarium", "b-2.md", "notes-7.md"]);
}

#[test]
fn a_file_has_a_name_without_a_leading_dash_and_no_file_of_somebody_is_overwritten() {
    let library = Library::start();
    library.ok(&["new", "///", "a"]);
    library.ok(&["new", "Notes", "b"]);
    library.ok(&["export", "out"]);
    assert_eq!(library.names("out"), [".promptarium", "notes-2.md", "prompt-1.md"]);
    // An export to a full disk may have left it so.
    library.write("out/.promptarium", "");
    library.write("out/notes-2.md", "mine");
    let ran = library.run(&["export", "out"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("notes-2.md is not"), "{ran:?}");
    assert_eq!(library.read("out/notes-2.md"), "mine");
    fs::rename(
        library.folder.path().join("out/notes-2.md"),
        library.folder.path().join("out/my-2.md"),
    )
    .unwrap();
    for written in [1, 0] {
        assert_eq!(library.json(&["export", "out"])[0]["written"], written);
    }
}

#[test]
fn an_exported_folder_that_is_imported_again_changes_what_was_edited_and_doubles_nothing() {
    let library = Library::start();
    library.ok(&["vault", "new", "Writing"]);
    library.ok(&["new", "A", "a", "--vault", "Writing"]);
    library.ok(&["new", "B", "b"]);
    library.ok(&["export", "out"]);
    // Also in a folder around it, and one file of it.
    for (path, unchanged) in [("out", 2), (".", 2), ("out/b-2.md", 1)] {
        assert_eq!(library.json(&["import", path, "--yes"])[0]["unchanged"], unchanged);
    }
    let file = library.read("out/a-1.md").replace("\n\na\n", "\n\nchanged\n");
    library.write("out/a-1.md", &file);
    library.write("out/c.md", "New");
    assert_eq!(library.ok(&["import", "out", "--yes"]), "2 prompts are stored");
    assert_eq!(library.ok(&["show", "A"]), "changed");
    assert_eq!(library.ok(&["show", "c"]), "New");
    // A text from Windows is not changed by its file.
    library.ok(&["new", "Lines", "one\r\ntwo"]);
    library.ok(&["export", "lines"]);
    assert_eq!(library.json(&["import", "lines", "--yes"])[0]["changed"], 0);
    library.ok(&["rm", "Lines", "--yes"]);
    // The edited file is older than its prompt now.
    library.write("out/a-1.md", &file.replace("changed", "again"));
    let ran = library.run(&["import", "out", "--yes"]);
    assert!(ran.stderr.contains("since the export"), "{ran:?}");
    assert_eq!(library.ok(&["ls"]).lines().count(), 3);
}

#[test]
fn a_folder_moves_to_another_library_with_its_vaults() {
    let (one, two) = (Library::start(), Library::start());
    one.ok(&["vault", "new", "Writing"]);
    one.ok(&["vault", "new", "Work"]);
    one.ok(&["new", "A", "a", "--vault", "Writing"]);
    one.ok(&["vault", "add", "Work", "A"]);
    one.ok(&["export", "out"]);
    two.ok(&["new", "Other", "other"]);
    let path = one.folder.path().join("out");
    two.ok(&["import", path.to_str().unwrap(), "--yes"]);
    for vault in ["Writing", "Work"] {
        assert!(two.ok(&["ls", "--vault", vault]).ends_with("\tA"), "{vault}");
    }
    assert_eq!(two.ok(&["show", "Other"]), "other");
}

#[test]
fn csv_and_json_of_other_programs_are_imported_and_what_is_left_out_is_told() {
    let library = Library::start();
    let long = "x".repeat(15_001);
    library.write("acts.csv", &format!("act,prompt\nPoet,\"Write, in\nverse\"\nEmpty,\nPoet,\"Write, in\nverse\"\nLong,{long}\n"));
    let preview = library.run(&["import", "acts.csv"]);
    assert_eq!(preview.code, Some(2), "{preview:?}");
    for said in [
        "1 new prompts",
        "3 left out",
        "  Poet: Write, in verse",
        "row 2: it has no text",
        "row 3: the same as one before it",
        "row 4: the text has 15001 characters",
        "--yes",
    ] {
        assert!(preview.stderr.contains(said), "{said}: {}", preview.stderr);
    }
    assert_eq!(library.ok(&["ls"]), "");
    library.write(
        "webui.json",
        r#"[{"command": "/sum", "title": "Summary", "content": "Sum {{x}}"}]"#,
    );
    library.write("sheet.csv", "title;prompt\r\n\"A; b\";\"Say \"\"c, d\"\"\"\r\n");
    library.write("texts.json", r#"{"Tone": "Be kind", "Style": "Be brief"}"#);
    library.write("nested.json", r#"{"version": 2, "prompts": {"Cook": {"template": "Cook it"}}}"#);
    library.write(
        "lines.jsonl",
        "{\"name\": \"L1\", \"text\": \"1\"}\n{\"text\": \"Second line\\nmore\"}\n",
    );
    for file in ["acts.csv", "sheet.csv", "webui.json", "texts.json", "nested.json", "lines.jsonl"]
    {
        library.ok(&["import", file, "--yes", "--vault", "Imported"]);
    }
    for (title, text) in [
        ("Poet", "Write, in\nverse"),
        ("A; b", "Say \"c, d\""),
        ("Summary", "Sum {{x}}"),
        ("Style", "Be brief"),
        ("Cook", "Cook it"),
        ("Second line", "Second line\nmore"),
    ] {
        assert_eq!(library.ok(&["show", title, "--raw"]), text, "{title}");
    }
    assert_eq!(library.ok(&["ls", "--vault", "Imported"]).lines().count(), 8);
}

#[test]
fn the_same_import_again_stores_nothing_unless_it_must() {
    let library = Library::start();
    library.write("a.csv", "title,text\nA,a\nB,b\n");
    library.ok(&["import", "a.csv", "--yes"]);
    library.write("a.csv", "title,text\nA,a\nB,b\nC,c\n");
    let again = &library.json(&["import", "a.csv", "--yes"])[0];
    assert_eq!((&again["new"], &again["unchanged"]), (&1.into(), &2.into()));
    assert_eq!(library.ok(&["ls"]).lines().count(), 3);
    library.ok(&["import", "a.csv", "--yes", "--again"]);
    assert_eq!(library.ok(&["ls"]).lines().count(), 6);
}

#[test]
fn files_that_have_no_prompts_are_refused_with_what_they_need() {
    let library = Library::start();
    library.write("a.csv", "a,b\n1,2\n");
    library.write("a.json", "{\"a\": 1}");
    library.write("b.json", "{");
    library.write("image.md", "---\ntitle: I\ntype: image\n---\n\ntext");
    for (file, said) in [
        ("a.csv", "one of: content, prompt"),
        ("a.json", "no object with a text"),
        ("b.json", "not JSON"),
        ("absent", "No such file"),
        ("image.md", "need --model"),
    ] {
        let ran = library.run(&["import", file, "--yes"]);
        assert!(ran.stderr.contains(said), "{file}: {ran:?}");
    }
    library.write("folder/a.md", "A");
    fs::write(library.folder.path().join("folder/b.md"), b"caf\xe9").unwrap();
    fs::write(library.folder.path().join("latin.csv"), b"title,text\nCaf\xe9,a\n").unwrap();
    for (file, code, said) in [
        ("folder", 0, "folder/b.md: the text is not UTF-8"),
        ("latin.csv", 2, "latin.csv: the text is not UTF-8"),
        ("image.md", 1, "there is nothing to store"),
    ] {
        let ran = library.run(&["import", file, "--yes"]);
        assert!(ran.code == Some(code) && ran.stderr.contains(said), "{file}: {ran:?}");
    }
    library.ok(&["import", "image.md", "--yes", "--model", "local/plasma"]);
    assert!(library.ok(&["ls"]).contains("\timage\t"));
}

#[test]
fn a_folder_of_git_gives_its_prompts_and_none_of_what_is_about_the_folder() {
    let library = Library::start();
    for (name, text) in [
        ("git/README.md", "# My prompts"),
        ("git/docs/Readme.pl.md", "# Moje"),
        ("git/LICENSE.md", "MIT"),
        ("git/AGENTS.md", "Be careful"),
        // Somebody wants this one.
        ("git/docs/CHANGELOG.md", "---\ntitle: Changelog\n---\n\nWrite a changelog"),
        ("git/tone.MD", "Be kind"),
        ("git/readme-writer.md", "Write a read-me"),
        ("git/fifo.txt", "no"),
    ] {
        library.write(name, text);
    }
    #[cfg(unix)]
    for name in ["a", "b", "c.md"] {
        let path = library.folder.path().join("git").join(name);
        std::os::unix::fs::symlink(library.folder.path().join("git"), path).unwrap();
    }
    let ran = library.run(&["import", "git", "--yes"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "3 prompts are stored\n"), "{ran:?}");
    assert!(ran.stderr.contains("4 left out"), "{ran:?}");
    assert!(ran.stderr.contains("git/README.md: it is about the folder"), "{ran:?}");
    // Whoever names the file means it.
    assert_eq!(library.ok(&["import", "git/README.md", "--yes"]), "1 prompts are stored");
}

#[test]
fn a_file_that_says_two_things_is_left_out_with_the_reason() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    library.ok(&["new", "B", "b"]);
    library.ok(&["export", "out"]);
    // A copy of an exported file, edited to be a new prompt.
    let copy = library.read("out/a-1.md").replace("\n\na\n", "\n\nmine\n");
    library.write("out/a copy.md", &copy);
    let ran = library.run(&["import", "out", "--yes"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "0 prompts are stored\n"), "{ran:?}");
    assert!(ran.stderr.contains("a copy.md: another file has the id 1 too"), "{ran:?}");
    assert_eq!(library.ok(&["show", "1"]), "a");
    // A text with a comma that nobody quoted.
    library.write("a.csv", "act,prompt\nPoet,Write, in verse\nCook,Cook,\nTwo,\"2\"\n");
    let ran = library.run(&["import", "a.csv", "--yes"]);
    assert_eq!(&*ran.stdout, "2 prompts are stored\n", "{ran:?}");
    assert!(ran.stderr.contains("row 1: it has 3 cells, the header 2"), "{ran:?}");
    library.write("q.csv", "act,prompt\nX,x\nY,\"open\nZ,z\n");
    let ran = library.run(&["import", "q.csv", "--yes"]);
    assert_eq!(&*ran.stdout, "1 prompts are stored\n", "{ran:?}");
    assert!(ran.stderr.contains("row 2: the quotes around its last text are not"), "{ran:?}");
    library.write("n.json", "{\"title\": 5000, \"text\": \"number\"}");
    library.ok(&["import", "n.json", "--yes"]);
    assert_eq!(library.ok(&["show", "5000", "--raw"]), "number");
    // Two vaults of one name.
    library.ok(&["vault", "new", "Twins"]);
    library.ok(&["vault", "new", "Twins"]);
    library.ok(&["vault", "new", "Writing"]);
    library.write("c.csv", "title,text\nC,c\n");
    let ran = library.run(&["import", "c.csv", "--yes", "--vault", "twins"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("more than one vault"), "{ran:?}");
    let id = library.ok(&["vault", "new", "By id"]);
    for vault in ["writing", &id] {
        library.ok(&["import", "c.csv", "--yes", "--vault", vault]);
    }
    for vault in ["Writing", "By id"] {
        assert_eq!(library.ok(&["ls", "--vault", vault]).lines().count(), 1, "{vault}");
    }
}

#[test]
fn front_matter_is_read_as_people_write_it() {
    let library = Library::start();
    for (number, front) in [
        "---\ntitle: '2024'\nvaults: Writing\n---\n\n",
        "--- \ntitle: '2024'\nvault: Writing\n---\t\n",
        "\u{feff}---\r\ntitle: '2024'\r\nvaults: [Writing]\r\ntags:\r\n- x\r\n---\r\n\r\n",
        "---\ntitle: \"2024\"\nvaults:\n- Writing\nplatform:\ndescription: x\n---\n",
    ]
    .iter()
    .enumerate()
    {
        library.write(&format!("front/{number}.md"), &format!("{front}text {number}\n"));
        library.ok(&["import", &format!("front/{number}.md"), "--yes"]);
    }
    let stored = library.json(&["ls", "--vault", "Writing"]);
    let titles: Vec<_> = stored.iter().map(|it| (&it["title"], &it["prompt"])).collect();
    let expected: Vec<_> =
        (0..4).rev().map(|n| ("2024".into(), format!("text {n}").into())).collect();
    assert_eq!(titles, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
}
