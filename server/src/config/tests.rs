use super::*;
use crate::generate::setting::ProviderSetting;

/// Reads arguments; the tests' own environment names no setting.
fn read(arguments: &[&str]) -> Result<Config, NoConfig> {
    let program = ["promptarium-server"];
    Config::read(program.iter().chain(arguments).map(OsString::from))
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
