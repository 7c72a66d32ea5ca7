//! Listing, searching, showing, storing and deleting prompts, and vaults.

use crate::program::{Library, run};

#[test]
fn a_pipe_gets_a_line_of_tab_separated_text_for_each_prompt() {
    let library = Library::start();
    assert_eq!(library.ok(&["ls"]), "");
    assert_eq!(library.ok(&["new", "One\ttab", "First"]), "1");
    assert_eq!(library.ok(&["new", "Two", "Second", "--type", "text", "--platform", "llm"]), "2");
    let lines = library.ok(&["ls"]);
    let rows: Vec<Vec<_>> = lines.lines().map(|line| line.split('\t').collect()).collect();
    let date = rows[0][2];
    assert_eq!(rows, [["2", "text", date, "Two"], ["1", "text", date, "One tab"]]);
    assert_eq!(date.len(), 10);
    assert_eq!(library.ok(&["ls", "--limit", "1"]).lines().count(), 1);
    let json = library.json(&["ls"]);
    assert_eq!((&json[0]["platform"], &json[1]["prompt"]), (&"llm".into(), &"First".into()));
}

#[test]
fn lists_are_filtered_by_vault_and_type_and_limit_0_is_all() {
    let library = Library::start();
    library.ok(&["vault", "new", "Pictures"]);
    library.ok(&["new", "Dusk", "A harbour", "--model", "local/plasma", "--vault", "pictures"]);
    for number in 0..25 {
        library.ok(&["new", &format!("Note {number}"), "text"]);
    }
    assert_eq!(library.ok(&["ls"]).lines().count(), 20);
    assert_eq!(library.ok(&["ls", "--limit", "0"]).lines().count(), 26);
    assert!(library.ok(&["ls", "--vault", "Pictures"]).ends_with("Dusk"));
    assert!(library.ok(&["ls", "--type", "image"]).ends_with("Dusk"));
    assert_eq!(library.run(&["ls", "--type", "poem"]).code, Some(2));
    let absent = library.run(&["ls", "--vault", "Poems"]);
    assert_eq!(absent.code, Some(4));
    assert!(absent.stderr.contains("there are: Pictures, General"), "{}", absent.stderr);
}

#[test]
fn a_prompt_is_named_by_id_title_or_a_part_that_only_one_title_has() {
    let library = Library::start();
    library.ok(&["new", "Crème brûlée", "Sugar"]);
    library.ok(&["new", "Code review", "Review"]);
    library.ok(&["new", "Code", "Write"]);
    library.ok(&["new", "Commit", "Write code"]);
    library.ok(&["new", "2024", "A year"]);
    library.ok(&["new", "001", "Not an id"]);
    library.ok(&["new", "+1", "Not an id either"]);
    for (name, text) in [
        ("1", "Sugar"),
        ("creme brulee", "Sugar"),
        ("code", "Write"),
        ("REVIEW", "Review"),
        ("2024", "A year"),
        ("001", "Not an id"),
        ("+1", "Not an id either"),
    ] {
        assert_eq!(library.ok(&["show", name]), text, "{name}");
    }
    for (name, code) in [("9", 4), ("nothing", 4), ("Co", 2), ("", 2), (" ", 2)] {
        assert_eq!(library.run(&["show", name]).code, Some(code), "{name}");
    }
}

#[test]
fn search_finds_all_words_in_title_text_and_platform() {
    let library = Library::start();
    library.ok(&["new", "Harbour", "Dusk and gulls", "--platform", "canvas"]);
    library.ok(&["new", "Sea", "Dusk"]);
    let titles = |words: &[&str]| {
        let found = library.json(&[&["search"], words].concat());
        found.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&["dusk"]), ["Sea", "Harbour"]);
    assert_eq!(titles(&["gulls", "CANVAS"]), ["Harbour"]);
    assert_eq!(library.run(&["search", "gulls", "sea"]).code, Some(4));
}

#[test]
fn variables_come_from_the_command_line_from_files_and_from_standard_input() {
    let library = Library::start();
    library.ok(&["new", "Review", "{{language|Rust}}, {{focus}}: {{code}}"]);
    library.write("code.rs", "fn main() {}\n");
    let set = ["--set", "focus=speed", "--set", "code=@code.rs"];
    assert_eq!(library.ok(&[&["show", "Review"], &set[..]].concat()), "Rust, speed: fn main() {}");
    let arguments =
        ["show", "Review", "--set", "focus=a=b", "--set", "code=-", "--set", "language=C"];
    let ran = run(&mut library.command(&arguments), "{{focus}}\n");
    assert_eq!(ran.stdout, "C, a=b: {{focus}}\n");
    assert_eq!(library.ok(&["show", "Review", "--raw"]), "{{language|Rust}}, {{focus}}: {{code}}");
    for (set, said) in [
        (&["focus=x"][..], "no value for code"),
        (&["code=1", "focus=2", "tone=3"], "no variable \"tone\""),
        (&["code"], "has no \"=\""),
        (&["code=@absent"], "absent: No such file"),
        (&["code=-", "focus=-"], "standard input can be one value only"),
    ] {
        let set: Vec<_> = set.iter().flat_map(|pair| ["--set", pair]).collect();
        let ran = library.run(&[&["show", "Review"], &set[..]].concat());
        assert!(ran.stdout.is_empty() && ran.stderr.contains(said), "{ran:?}");
    }
}

#[test]
fn copy_prints_the_text_where_there_is_no_clipboard() {
    let library = Library::start();
    library.ok(&["new", "Tone", "Be {{how}}"]);
    let arguments = ["copy", "Tone", "--set", "how=brief"];
    let ran = run(library.command(&arguments).env("PATH", "/nowhere"), "");
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "Be brief\n"));
}

#[test]
fn a_new_text_comes_from_an_argument_a_file_or_standard_input() {
    let library = Library::start();
    library.write("text.md", "From a file\n");
    library.ok(&["new", "A", "@text.md"]);
    let ran = run(&mut library.command(&["new", "B"]), "From a pipe");
    assert_eq!(ran.stdout, "2\n");
    assert_eq!(library.ok(&["show", "A"]), "From a file");
    assert_eq!(library.ok(&["show", "B"]), "From a pipe");
    let invalid = library.run(&["new", "C", ""]);
    assert_eq!(invalid.code, Some(2));
    assert!(invalid.stderr.contains("1 to 15000 characters"), "{}", invalid.stderr);
}

#[test]
fn nothing_is_deleted_without_an_answer() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    let ran = library.run(&["rm", "A"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--yes"), "{}", ran.stderr);
    assert_eq!(library.ok(&["rm", "A", "1", "--yes"]), "1");
    assert_eq!(library.ok(&["ls"]), "");
}

#[test]
fn edit_from_a_file_changes_what_differs() {
    let library = Library::start();
    library.ok(&["new", "A", "a", "--platform", "llm"]);
    library.write("a.md", "---\ntitle: B\n---\n\nb\n");
    assert_eq!(library.ok(&["edit", "A", "--from", "a.md"]), "1");
    let prompt = &library.json(&["show", "B"])[0];
    assert_eq!((&prompt["prompt"], &prompt["platform"]), (&"b".into(), &serde_json::Value::Null));
    library.write("bad.md", "---\ntitle: [\n---\n");
    assert_eq!(library.run(&["edit", "B", "--from", "bad.md"]).code, Some(2));
    assert_eq!(library.run(&["edit", "B"]).code, Some(2));
}

#[test]
fn vaults_are_made_filled_pinned_moved_forked_and_deleted() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    library.ok(&["new", "B", "b"]);
    assert_eq!(library.ok(&["vault", "new", "One", "--visibility", "public"]), "2");
    library.ok(&["vault", "new", "Two", "--description", "The second"]);
    assert_eq!(library.ok(&["vault", "add", "One", "A", "B"]), "2");
    assert_eq!(library.ok(&["vault", "pin", "One", "A"]), "1");
    assert_eq!(library.ok(&["vault", "pin", "One", "A", "--off"]), "1");
    assert_eq!(library.ok(&["vault", "move", "B", "One", "Two"]), "2");
    let absent = library.run(&["vault", "pin", "One", "B"]);
    assert!(absent.stderr.contains("prompt 2 is not in the vault \"One\""), "{absent:?}");
    let lines = library.ok(&["vault", "ls"]);
    assert_eq!(lines.lines().next(), Some("3\t1\tprivate\tTwo"), "{lines}");
    assert_eq!(library.ok(&["vault", "fork", "2"]), "4");
    assert_eq!(library.ok(&["vault", "remove", "Two", "B"]), "2");
    assert_eq!(library.run(&["vault", "rm", "Two"]).code, Some(2));
    assert_eq!(library.ok(&["vault", "rm", "Two", "--yes"]), "3");
}
