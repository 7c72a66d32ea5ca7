use super::*;
use crate::blobs::BlobSetting;
use crate::domain::{Scopes, Vendor};
use crate::generate::ProviderSetting;
use crate::store::postgres::Migration;

/// Reads arguments; the tests' own environment names no setting.
fn read(arguments: &[&str]) -> Result<Config, NoConfig> {
    let program = ["promptarium-server"];
    match Task::read(program.iter().chain(arguments).map(OsString::from))? {
        Task::Serve(config) => Ok(*config),
        Task::Manage(config) => panic!("{config:?}"),
        Task::Describe(config) => panic!("{config:?}"),
    }
}

fn fault(arguments: &[&str]) -> String {
    match read(arguments) {
        Err(NoConfig::Fault(fault)) => fault,
        other => panic!("{arguments:?}: {other:?}"),
    }
}

#[test]
fn without_arguments_everything_has_a_default() {
    let config = read(&[]).unwrap();
    assert_eq!(config.listen.text, "127.0.0.1:8080");
    assert_eq!(config.limits.connections_max, 10_000);
    assert_eq!(config.limits.drain_delay, Duration::ZERO);
    assert_eq!(config.limits.drain_timeout, Duration::from_secs(30));
    assert!(config.service.seeds.is_empty() && config.service.signing_key.is_none());
    assert!(!config.json);
}

#[test]
fn flags_stand_on_both_sides_of_serve() {
    for arguments in [
        &["--listen", "[::1]:0", "--json"][..],
        &["serve", "--listen", "[::1]:0", "--json"],
        &["--listen", "[::1]:0", "--json", "serve"],
        &["--listen=[::1]:0", "serve", "--json=true"],
    ] {
        let config = read(arguments).unwrap();
        assert_eq!(config.listen.text, "[::1]:0", "{arguments:?}");
        assert!(config.json, "{arguments:?}");
    }
}

#[test]
fn seeds_on_either_side_of_serve_are_all_there() {
    let (a, b) = ("promptarium_live_a1_s=a", "promptarium_live_b1_s=b");
    for arguments in [
        &["--seed-key", a, "--seed-key", b][..],
        &["serve", "--seed-key", a, "--seed-key", b],
        &["--seed-key", a, "--seed-key", b, "serve"],
    ] {
        let config = read(arguments).unwrap();
        let accounts: Vec<_> = config.service.seeds.iter().map(|seed| &seed.account).collect();
        assert_eq!(accounts, ["a", "b"], "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_no_faults() {
    for arguments in [&["--help"][..], &["--version"], &["serve", "--help"], &["help"]] {
        assert!(matches!(read(arguments), Err(NoConfig::Asked(_))), "{arguments:?}");
    }
}

#[test]
fn every_fault_is_one_line_with_its_name() {
    let faults = [
        &["--nonsense"][..],
        &["--seed-kye=promptarium_live_a1_s3cret=alice"],
        &["promptarium_live_a1_s3cret=alice"],
        &["start"],
        &["--listen"],
        &["--listen", "here"],
        &["--listen", "127.0.0.1:65536"],
        &["--listen", "::1:80"],
        &["--listen", "127.0.0.1:1", "--listen", "127.0.0.1:2"],
        &["--admin-listen", ":80"],
        &["--public-url", "https://user:s3cret@example.com"],
        &["--public-url", "example.com"],
        &["--public-url", "https://example.com/api/v1"],
        &["--model-namespace", "local/"],
        &["--vendor", "Acme Inc"],
        &["--seed-key", "promptarium_live_a1_s3cret"],
        &["--seed-key", "promptarium_live_a1_s=a", "--seed-key", "s3cret=alice"],
        &["--seed-key", "promptarium_live_a1_s3cret=alice:prompts:read"],
        &[
            "--seed-key",
            "promptarium_live_a1_s3cret=a",
            "serve",
            "--seed-key=promptarium_live_b1_s=b",
        ],
        &["--signing-key", "s3cret"],
        &["--log", "loud=very"],
        &["--log-format", "xml"],
        &["--max-connections", "0"],
        &["--drain-delay", "soon"],
        &["--drain-timeout", "-1"],
        &["--json=maybe"],
        &["--listen", "here", "--vendor", "", "--log-format", "xml"],
    ]
    .map(fault);
    for fault in &faults {
        assert!(!fault.contains("s3cret") && !fault.contains('\n'), "{fault}");
    }
    insta::assert_snapshot!(faults.join("\n"), @r"
    there is no argument `--nonsense`; see promptarium-server --help
    there is no argument `--seed-kye`; see promptarium-server --help
    there is no command like the one given (not repeated here, since it may be a secret); see promptarium-server --help
    there is no command `start`; see promptarium-server --help
    `--listen` needs a value; see promptarium-server --help
    --listen must be an address and a port such as 127.0.0.1:8080
    --listen must be an address and a port such as 127.0.0.1:8080
    --listen must be an address and a port such as 127.0.0.1:8080
    `--listen` is given more than once; see promptarium-server --help
    --admin-listen must be an address and a port such as 127.0.0.1:8080
    --public-url must be a plain address, without user, query or fragment
    --public-url must be a URL that begins with http:// or https://
    --public-url must not end in /api/v1, which is added to it
    --model-namespace must be letters, digits, `.`, `_` or `-`, without a slash
    --vendor must be lower-case letters and digits
    --seed-key number 1 has no `=` between key and account (KEY=ACCOUNT[:SCOPE,...])
    --seed-key number 2 has no key of the form promptarium_live_<public id>_<secret> before the `=`
    --seed-key number 1 asks for the scope `prompts:read`, which does not exist; the scopes are: prompts:write (or `none`, or `revoked`)
    --seed-key stands on both sides of the command; use one
    --signing-key must have at least 32 characters
    --log must be off, error, warn, info, debug, trace, or a list of target=level
    --log-format must be pretty or json
    --max-connections must be an integer from 1 to 1000000
    --drain-delay must be whole seconds, from 0 to 3600
    there is no argument `-1`; see promptarium-server --help
    --json must be true or false
    --listen must be an address and a port such as 127.0.0.1:8080; --vendor must be lower-case letters and digits; --log-format must be pretty or json
    ");
}

#[test]
fn the_queue_provider_needs_an_address_and_a_key() {
    let (url, key) = (["--provider-url", "https://queue.example"], ["--provider-key", "s3cret"]);
    let queue = ["--provider", "queue"];
    let config = read(&[&queue[..], &url, &key].concat()).unwrap();
    assert!(matches!(config.service.provider, ProviderSetting::Queue(_)));
    assert!(!format!("{config:?}").contains("s3cret"));
    assert!(matches!(read(&[]).unwrap().service.provider, ProviderSetting::Local));
    for (arguments, at_fault) in [
        ([&queue[..], &url].concat(), "--provider is queue"),
        ([&queue[..], &key].concat(), "--provider is queue"),
        ([&url[..], &key].concat(), "--provider must be queue"),
        (["--provider", "other"].to_vec(), "--provider must be"),
        ([&queue[..], &key, &["--provider-url", "ftp://s3cret"]].concat(), "--provider-url is not"),
        ([&queue[..], &url, &["--provider-key", "s3 cret"]].concat(), "--provider-key holds"),
        (["--workers", "many"].to_vec(), "--workers"),
        (["--workers", "1001"].to_vec(), "--workers"),
        (["--blob-store", "ftp://a"].to_vec(), "--blob-store"),
    ] {
        let fault = fault(&arguments);
        assert!(fault.contains(at_fault) && !fault.contains("cret"), "{fault}");
    }
}

const DATABASE: [&str; 2] = ["--database-url", "postgres://user:s3cret@localhost/name"];

fn read_task(arguments: &[&str]) -> Result<Task, NoConfig> {
    Task::read(["promptarium-server"].iter().chain(arguments).map(OsString::from))
}

#[test]
fn files_beside_a_database_last_as_long_as_it_does() {
    let folder = |path: &str| BlobSetting::Folder(path.into());
    for (arguments, blobs) in [
        (&[][..], BlobSetting::Memory),
        (&DATABASE, folder("./data/blobs")),
        (&["--database-url", DATABASE[1], "--blob-store", "memory:"], BlobSetting::Memory),
        (&["--blob-store", "file:a"], folder("a")),
    ] {
        assert_eq!(read(arguments).unwrap().service.blobs, blobs, "{arguments:?}");
    }
}

#[test]
fn a_database_is_read_and_never_shown() {
    let database = read(&DATABASE).unwrap().database.unwrap();
    assert_eq!(database.came_by, "--database-url");
    assert_eq!(database.migration, Migration::Auto);
    let config = read(&[&DATABASE[..], &["--migrate=off"]].concat()).unwrap();
    assert_eq!(config.database.as_ref().unwrap().migration, Migration::Off);
    assert!(!format!("{config:?}").contains("s3cret"));
    assert!(read(&[]).unwrap().database.is_none());
    for (further, told) in [
        (&["--database-pool", "0"][..], "--database-pool must be an integer from 1 to 10000"),
        (&["--migrate", "s3cret"], "--migrate must be auto or off"),
    ] {
        assert_eq!(fault(&[&DATABASE[..], further].concat()), told);
    }
    let alone = "--database-pool needs a database, which --database-url names";
    assert_eq!(fault(&["--database-pool", "8"]), alone);
    let fault = fault(&["--database-url", "s3cret"]);
    assert!(fault.starts_with("--database-url ") && !fault.contains("s3cret"), "{fault}");
}

#[test]
fn every_command_is_read() {
    let vendor = Vendor::new("promptarium").unwrap();
    let key =
        |scopes| Chore::CreateKey { account: "alice".to_owned(), scopes, vendor: vendor.clone() };
    let (all, none) = (Scopes::ALL, Scopes::default());
    let account = ["key", "create", "--account", "alice"];
    for (arguments, chore) in [
        (vec!["migrate"], Chore::Migrate),
        (vec!["account", "list"], Chore::ListAccounts),
        (vec!["account", "create", "alice"], Chore::CreateAccount { name: "alice".to_owned() }),
        (account.to_vec(), key(all)),
        ([&account[..], &["--scope", "prompts:write"]].concat(), key(all)),
        ([&account[..], &["--scope", "none"]].concat(), key(none)),
        (vec!["key", "list"], Chore::ListKeys { account: None }),
        (
            vec!["key", "list", "--account", "alice"],
            Chore::ListKeys { account: Some("alice".to_owned()) },
        ),
        (vec!["key", "revoke", "p1abc"], Chore::RevokeKey { public_id: "p1abc".to_owned() }),
    ] {
        for whole in [[&DATABASE[..], &arguments].concat(), [&arguments, &DATABASE[..]].concat()] {
            match read_task(&whole) {
                Ok(Task::Manage(config)) => {
                    assert_eq!(config.chore, chore);
                    assert!(!config.json && !format!("{config:?}").contains("s3cret"));
                }
                other => panic!("{arguments:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_command_is_one_line() {
    let secret = "promptarium_live_a1_s3cret";
    let faults = [
        &["account"][..],
        &["account", "create"],
        &["account", "create", "a:b"],
        &["account", "remove", "a"],
        &["key"],
        &["key", "create"],
        &["key", "create", "--account", "a", "--scope", "s3cret"],
        &["key", "create", "--account", "a", "--scope", "none", "--scope", "prompts:write"],
        &["key", "create", "--account", "a", "--vendor", "A"],
        &["key", "revoke", secret],
        &["key", "revoke", "a", secret],
    ]
    .map(|arguments| match read_task(&[&DATABASE[..], arguments].concat()) {
        Err(NoConfig::Fault(fault)) => fault,
        other => panic!("{arguments:?}: {other:?}"),
    });
    for fault in &faults {
        assert!(!fault.contains("s3cret") && !fault.contains('\n'), "{fault}");
    }
    insta::assert_snapshot!(faults.join("\n"), @r"
    this command needs a further word, such as list; see promptarium-server --help
    `<NAME>` is missing; see promptarium-server --help
    the account's name must be 1 to 200 characters, without spaces, `:`, `,` or `=`
    there is no command `remove`; see promptarium-server --help
    this command needs a further word, such as list; see promptarium-server --help
    `--account <NAME>` is missing; see promptarium-server --help
    --scope must be prompts:write or none
    --scope none stands alone
    --vendor must be lower-case letters and digits
    the key's public id must be letters and digits: what stands between `_live_` and the last `_` of the key
    there is no argument like the one given (not repeated here, since it may be a secret); see promptarium-server --help
    ");
}

#[test]
fn a_command_without_a_database_says_so() {
    for arguments in [&["migrate"][..], &["account", "list"], &["key", "revoke", "a"]] {
        let fault = "--database-url is needed by this command, or PROMPTARIUM_DATABASE_URL";
        assert_eq!(read_task(arguments).unwrap_err(), NoConfig::Fault(fault.to_owned()));
    }
}

#[test]
fn the_help_of_a_command_shows_what_matters_to_it() {
    let help = |arguments: &[&str]| match read_task(arguments) {
        Err(NoConfig::Asked(text)) => text,
        other => panic!("{other:?}"),
    };
    for arguments in [&["migrate", "--help"][..], &["key", "create", "--help"]] {
        let text = help(arguments);
        assert!(text.contains("--database-url") && !text.contains("--workers"), "{text}");
    }
    let text = help(&["--help"]);
    assert!(text.contains("--workers") && text.contains("account"), "{text}");
}
