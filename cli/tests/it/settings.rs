//! Logging in and out, errors, exit codes, and what the program says of itself.

use std::fs;
use std::net::TcpListener;

use promptarium_server::EmbeddedServer;

use crate::program::{Library, run};

#[test]
fn a_login_is_checked_kept_for_its_owner_alone_and_forgotten() {
    let library = Library::start();
    let address = library.url.strip_suffix("/api/v1").unwrap().strip_prefix("http://").unwrap();
    let before = run(&mut library.stranger(&["ls"]), "");
    assert_eq!(before.code, Some(2));
    assert!(before.stderr.contains("promptarium login URL"), "{}", before.stderr);

    let wrong = run(&mut library.stranger(&["login", address]), "promptarium_live_a_b\n");
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    let file = library.folder.path().join("config/promptarium/config.json");
    assert!(!file.exists());

    let login = run(&mut library.stranger(&["login", address]), &format!("{}\n", library.key));
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(!login.stderr.contains(&library.key) && login.stdout.is_empty(), "{login:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(run(&mut library.stranger(&["vault", "ls"]), "").code, Some(0));

    // The same address in another form.
    for url in [format!("{}/", library.url), library.url.replace("http", "HTTP")] {
        let mut same = library.stranger(&["ls"]);
        assert_eq!(run(same.env("PROMPTARIUM_BASE_URL", url), "").code, Some(0));
    }
    // The stored key is not for another address.
    let mut other = library.stranger(&["ls"]);
    let ran = run(other.env("PROMPTARIUM_BASE_URL", "http://127.0.0.1:9/api/v1"), "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("PROMPTARIUM_API_KEY"), "{}", ran.stderr);

    assert_eq!(run(&mut library.stranger(&["logout"]), "").code, Some(0));
    assert!(!file.exists());
}

#[test]
fn the_environment_wins_over_the_login() {
    let (one, two) = (Library::start(), Library::start());
    run(&mut one.stranger(&["login", &one.url]), &one.key);
    two.ok(&["new", "Two", "2"]);
    let mut command = one.stranger(&["ls"]);
    command.env("PROMPTARIUM_BASE_URL", &two.url).env("PROMPTARIUM_API_KEY", &two.key);
    assert!(run(&mut command, "").stdout.ends_with("Two\n"));
}

#[test]
fn exit_codes_tell_failures_apart_and_errors_say_what_to_do() {
    let library = Library::start();
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let down = format!("http://{unused}/api/v1");
    let without_path = library.url.strip_suffix("/api/v1").unwrap();
    let elsewhere = format!("{without_path}/nowhere");
    for (url, key, code, said) in [
        (&*library.url, "promptarium_live_a_b", 1, "promptarium login"),
        (&down, &*library.key, 3, "is the server running?"),
        (without_path, &library.key, 1, "does the address end in /api/v1?"),
        (&elsewhere, &library.key, 1, "/api/v1"),
        ("nonsense", &library.key, 2, "PROMPTARIUM_BASE_URL"),
    ] {
        let mut command = library.stranger(&["ls"]);
        command.env("PROMPTARIUM_BASE_URL", url).env("PROMPTARIUM_API_KEY", key);
        let ran = run(&mut command, "");
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
        assert!(!ran.stderr.contains(&library.key), "{ran:?}");
        assert!(ran.stderr.matches("/api/v1").count() <= 1, "{ran:?}");
    }
    assert_eq!(library.run(&["nonsense"]).code, Some(2));
    assert_eq!(library.run(&[]).code, Some(2));
}

#[test]
fn a_key_that_only_reads_is_told_so() {
    let key = "promptarium_live_reader_s3cretsecret";
    let library =
        Library::start_with(EmbeddedServer::builder().seed_key(format!("{key}=alice:none")));
    let ran = library.run(&["new", "A", "a"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("may not write"), "{}", ran.stderr);
    // An import does not try all the others.
    let rows: String = (0..100).map(|number| format!("A,{number}\n")).collect();
    library.write("a.csv", &format!("title,text\n{rows}"));
    let ran = library.run(&["import", "a.csv", "--yes"]);
    assert!(ran.stderr.contains("may not write") && !ran.stderr.contains("not stored"), "{ran:?}");
}

#[test]
fn every_command_has_help_and_most_an_example() {
    let library = Library::start();
    let help = run(&mut library.stranger(&["--help"]), "").stdout;
    for command in ["login", "search", "copy", "edit", "generate", "export", "import", "mcp"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        let help = run(&mut library.stranger(&[command, "--help"]), "").stdout;
        assert!(help.contains("Example"), "{command}");
    }
}

#[test]
fn completions_and_the_manual_need_no_login() {
    let library = Library::start();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(
            run(&mut library.stranger(&["completions", shell]), "").stdout.contains("generate")
        );
    }
    let page = run(&mut library.stranger(&["man"]), "").stdout;
    assert!(page.starts_with('.') && page.contains("vault") && page.contains("resume"), "{page}");
}
