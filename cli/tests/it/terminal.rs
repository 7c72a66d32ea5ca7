//! The program on a terminal, which `script` of util-linux provides.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use crate::program::Library;

/// A program on a terminal.
struct Session {
    child: Child,
    seen: String,
}

impl Session {
    fn start(command: &Command) -> Self {
        let words = [command.get_program()].into_iter().chain(command.get_args());
        let words = words.map(|word| format!("'{}'", word.to_str().unwrap()));
        let line = words.collect::<Vec<_>>().join(" ");
        let mut script = Command::new("script");
        script.args(["-qfec", &format!("stty rows 24 cols 60; {line}"), "/dev/null"]);
        script.current_dir(command.get_current_dir().unwrap()).env("TERM", "xterm-256color");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self { child: script.spawn().unwrap(), seen: String::new() }
    }

    /// Reads until this is shown.
    fn expect(&mut self, text: &str) -> &mut Self {
        let stdout = self.child.stdout.as_mut().unwrap();
        while !self.seen.contains(text) {
            let mut bytes = [0; 1024];
            let count = stdout.read(&mut bytes).unwrap();
            assert!(count > 0, "no {text:?} in {:?}", self.seen);
            self.seen += &String::from_utf8_lossy(&bytes[..count]);
        }
        self
    }

    fn send(&mut self, text: &str) -> &mut Self {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        self
    }

    /// Everything that was shown, and the exit code.
    fn end(&mut self) -> (String, Option<i32>) {
        self.child.stdout.as_mut().unwrap().read_to_string(&mut self.seen).unwrap();
        (self.seen.clone(), self.child.wait().unwrap().code())
    }
}

#[test]
fn the_key_is_typed_without_echo() {
    let library = Library::start();
    let mut session = Session::start(&library.stranger(&["login", &library.url]));
    session.expect("API key").send(&format!("{}\n", library.key));
    let (seen, code) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Logged in") && !seen.contains(&library.key), "{seen}");
}

#[test]
fn ctrl_c_at_the_key_leaves_a_terminal_with_echo() {
    let library = Library::start();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_promptarium");
    command.args([
        "-c",
        &format!("trap : INT; {program} login {}; echo end $?; stty -a", library.url),
    ]);
    command.current_dir(library.folder.path());
    let mut session = Session::start(&command);
    let (seen, _) = session.expect("API key").send("\u{3}").expect("end 130").end();
    assert!(seen.contains(" echo ") && !seen.contains("-echo "), "{seen}");
}

#[test]
fn a_list_is_a_table_of_the_width_of_the_terminal() {
    let library = Library::start();
    library.ok(&["new", &"long title ".repeat(10), "\u{1b}[31mred"]);
    let (seen, _) = Session::start(&library.command(&["ls"])).end();
    let lines: Vec<_> = seen.lines().collect();
    assert!(lines[0].contains("\u{1b}[1mID") && lines[1].ends_with('…'), "{seen}");
    assert!(lines[1].chars().count() <= 60, "{seen}");
    let mut plain = library.command(&["ls"]);
    let (seen, _) = Session::start(plain.env("NO_COLOR", "1")).end();
    assert!(seen.starts_with("ID"), "{seen}");
    // Nothing in a prompt can change the terminal.
    let (seen, _) = Session::start(&library.command(&["show", "1"])).end();
    assert_eq!(seen.trim_end(), "\u{fffd}[31mred");
    // Nor by a question or an error.
    library.ok(&["new", "Red\u{1b}[31m", "{{a|\u{9b}31m}} {{b}}"]);
    for (arguments, shown) in [
        (["rm", "Red"], "Delete \"Red\u{fffd}[31m\"?"),
        (["show", "Red"], "a [\u{fffd}31m]: "),
        (["ls", "--vault=x\u{1b}[31m"], "vault \"x\u{fffd}[31m\""),
    ] {
        let (seen, _) =
            Session::start(&library.command(&arguments)).send("n\nn\n").expect(shown).end();
        assert!(!seen.contains(['\u{1b}', '\u{9b}']), "{seen:?}");
    }
}

#[test]
fn variables_without_a_value_are_asked_for() {
    let library = Library::start();
    library.ok(&["new", "Review", "{{language|Rust}}: {{code}} {{tone}}"]);
    let mut session = Session::start(&library.command(&["show", "Review", "--set", "tone=kind"]));
    session.expect("language [Rust]: ").send("\n").expect("code: ").send("x = 1\n");
    let (seen, code) = session.end();
    assert!(seen.ends_with("Rust: x = 1 kind\r\n") && code == Some(0), "{seen}");
}

#[test]
fn deleting_asks_first() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    for (answer, code, left) in [("n\n", 1, 1), ("y\n", 0, 0)] {
        let mut session = Session::start(&library.command(&["rm", "A"]));
        session.expect("Delete \"A\"?").send(answer);
        assert_eq!(session.end().1, Some(code));
        assert_eq!(library.ok(&["ls"]).lines().count(), left);
    }
}

/// An editor that runs these commands of a shell with the file as `$1`.
fn editor(library: &Library, commands: &str) -> String {
    let path = library.write("editor", &format!("#!/bin/sh\n{commands}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_prompt_is_edited_in_an_editor_and_a_new_one_written() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    let name = editor(&library, "sed -i 's/^a$/b/; s/^title: A/title: B/' \"$1\"");
    let (seen, code) = Session::start(library.command(&["edit", "A"]).env("EDITOR", &name)).end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(library.ok(&["show", "B"]), "b");
    let (seen, code) = Session::start(library.command(&["edit", "B"]).env("EDITOR", "true")).end();
    assert!(seen.contains("nothing was changed") && code == Some(1), "{seen}");
    let name = editor(&library, "echo written >> \"$1\"");
    Session::start(library.command(&["new", "C"]).env("EDITOR", format!("{name} "))).end();
    assert_eq!(library.ok(&["show", "C"]), "\nwritten");
}

#[test]
fn a_concurrent_change_is_noticed_and_nothing_typed_is_lost() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    let program = env!("CARGO_BIN_EXE_promptarium");
    library.write("theirs.md", "---\ntitle: A\n---\n\ntheirs\n");
    let name = editor(&library, &format!("{program} edit A --from theirs.md; echo mine >> \"$1\""));
    let mut session = Session::start(library.command(&["edit", "A"]).env("EDITOR", &name));
    session.expect("Overwrite").send("n\n");
    let (seen, code) = session.end();
    assert_eq!((code, library.ok(&["show", "A"])), (Some(1), "theirs".to_owned()), "{seen}");
    let path = seen.split("What you typed is in ").nth(1).unwrap().split(';').next().unwrap();
    assert!(std::fs::read_to_string(path).unwrap().ends_with("a\nmine\n"));
    library.ok(&["edit", "A", "--from", path]);
    assert_eq!(library.ok(&["show", "A"]), "a\nmine");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_the_service_refuses_stays_in_a_file() {
    let library = Library::start();
    library.ok(&["new", "A", "a"]);
    let name = editor(&library, "sed -i 's/^type: text/type: image/' \"$1\"");
    let (seen, code) = Session::start(library.command(&["edit", "A"]).env("EDITOR", &name)).end();
    let path = seen.split("What you typed is in ").nth(1).unwrap().split(';').next().unwrap();
    assert!(code == Some(2) && std::fs::read_to_string(path).unwrap().contains("type: image"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn ctrl_c_leaves_the_job_and_resume_or_the_same_command_continues_it() {
    let library = Library::start();
    let arguments = ["generate", "local/slow", "A harbour"];
    let mut session = Session::start(&library.command(&arguments));
    let (seen, code) = session.expect("queued").send("\u{3}").end();
    assert_eq!(code, Some(130), "{seen}");
    let id = seen.split("generate --resume ").nth(1).unwrap().trim_end();

    let again = library.run(&arguments);
    assert!(again.stderr.contains("interrupted"), "{again:?}");
    assert_eq!(library.ok(&["generate", "--resume", id]), again.stdout.trim_end());
    assert_eq!(library.ok(&["ls"]).lines().count(), 1, "one job was queued");
}
