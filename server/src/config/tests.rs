use super::settings_table::settings;
use super::*;
use crate::domain::Scopes;
use crate::store::postgres::Migration;

const DATABASE: [&str; 2] = ["--database-url", "postgres://user:s3cret@localhost/name"];

type Outcome = Result<(Config, CliCommand), ConfigError>;

fn parse_with(arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
    Config::parse(["promptarium-server"].iter().chain(arguments).map(OsString::from), variables)
}

fn config(arguments: &[&str]) -> Config {
    parse_with(arguments, &[]).unwrap_or_else(|error| panic!("{arguments:?}: {error:?}")).0
}

/// The text of the help, or of an error in one line.
fn text(outcome: Outcome) -> String {
    match outcome {
        Err(ConfigError::Help(text) | ConfigError::Invalid(text)) => text,
        Ok((_, command)) => panic!("{command:?} is accepted"),
    }
}

fn accounts(config: &Config) -> Vec<&str> {
    config.seeds.iter().map(|seed| &*seed.account).collect()
}

/// The table in the docs has the others; see `settings_table`.
#[test]
fn defaults_that_depend_on_something_are_those_of_the_docs() {
    let own = config(&[]);
    assert_eq!(format!("{:?}", own.limits()), format!("{:?}", ListenerLimits::default()));
    assert_eq!(own.log_filter(LevelFilter::INFO).to_string(), "info");
    assert!(own.seeds.is_empty() && own.provider.is_none());
    let memory = config(&["--data=memory:"]);
    assert_eq!((memory.data, memory.blobs), (Some(DataPlace::Memory), BlobSetting::Memory));
    assert_eq!(own.data, Some(DataPlace::Folder("./promptarium-data".into())));
    assert_eq!(own.blobs, BlobSetting::Folder("./promptarium-data/blobs".into()));
    assert_eq!(config(&DATABASE).data, None);
    assert_eq!(config(&DATABASE).blobs, BlobSetting::Folder("./data/blobs".into()));
}

#[test]
fn every_flag_is_read() {
    let flags = "--listen=[::1]:0 --admin-listen=localhost:9090 --public-url=https://example.com/p \
                 --database-url=postgres://user:s3cret@localhost/name --migrate=off \
                 --database-pool=8 --blob-store=s3://bucket/prefix --provider=queue \
                 --provider-url=https://queue.example --provider-key=s3cret \
                 --provider-private-outputs --workers=0 --job-retry-hours=1 --job-keep-days=2 \
                 --output-max-mib=3 --model-namespace=acme --vendor=acme \
                 --seed-key=acme_live_a1_s3cret=alice \
                 --signing-key=s3cret-of-at-least-32-characters --log=off --log-format=pretty \
                 --max-connections=5 --max-connections-per-address=4 --idle-timeout=3 --drain-delay=1 \
                 --drain-timeout=2 --memory-budget=48 --vaults-max=9 --rate-limit=key:requests=600/60 \
                 --rate-limit=account:uploads=5/9 --cors-origin=https://a.example --cors-origin=* \
                 --model-field=acme/a=image_size --model-field==image_urls --json";
    let config = config(&flags.split(' ').collect::<Vec<_>>());
    let numbers = format!("{:?} {:?}", config.jobs(), config.limits());
    for number in [
        "workers: 0, retry_hours: 1, keep_days: 2, output_max_mib: 3",
        "connections_max: 5, connections_per_address: Some(4), drain_delay: 1s, drain_timeout: 2s,",
        "idle_timeout: 3s",
    ] {
        assert!(numbers.contains(number), "{number} in {numbers}");
    }
    assert_eq!(config.log_filter(LevelFilter::INFO).to_string(), "off");
    assert_eq!(format!("{:?}", config.blobs), r#"S3 { bucket: "bucket", prefix: "prefix" }"#);
    assert_eq!(accounts(&config), ["alice"]);
    assert!(config.provider.unwrap().private_outputs);
    let s = config.settings;
    let families = format!("{:?}", s.model_field);
    assert_eq!(families, r#"[("acme/a", "image_size"), ("", "image_urls")]"#);
    assert_eq!((&*s.listen, s.admin_listen.as_deref()), ("[::1]:0", Some("localhost:9090")));
    assert_eq!((s.migrate, s.database_url.unwrap().connections), (Migration::Off, 8));
    assert_eq!((s.vaults_max, s.memory_budget, s.signing_key.is_some()), (9, 48, true));
    assert_eq!((s.vendor.to_string(), s.model_namespace.as_str()), ("acme".into(), "acme"));
    assert!(s.json && s.log_format == Some(LogFormat::Pretty));
    assert_eq!(s.public_url.unwrap().base_url(), "https://example.com/p/api/v1");
    let rates = ["key:requests=600/60", "account:uploads=5/9"].map(|rate| rate.parse().unwrap());
    assert_eq!(s.rate_limit, rates);
    let origins = format!("{:?}", s.cors_origin);
    assert_eq!(origins, r#"[CorsOrigin("https://a.example"), CorsOrigin("*")]"#);
}

#[test]
fn flags_are_accepted_before_and_after_the_command() {
    let flags = "--json --seed-key promptarium_live_a1_s=a --seed-key promptarium_live_b1_s=b";
    for line in [format!("serve {flags}"), format!("{flags} serve")] {
        let config = config(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((accounts(&config), config.settings.json), (vec!["a", "b"], true), "{line}");
    }
}

/// The tests of the program run each of them.
#[test]
fn commands_work_on_a_folder_or_a_database() {
    let (account, scope) = ("alice".to_owned(), Some(Scopes::default()));
    let key = KeyCommand::Create { account: account.clone(), name: Some("pc".to_owned()), scope };
    for (arguments, expected) in [
        ("key create --account alice --name pc --scope none", AdminCommand::Key(key)),
        ("sign-in alice", AdminCommand::SignIn { account }),
    ] {
        let words: Vec<_> = arguments.split(' ').collect();
        for whole in [[&DATABASE[..], &words].concat(), [&words[..], &DATABASE].concat()] {
            let (_, command) = parse_with(&whole, &[]).ok().unwrap();
            assert_eq!(command, CliCommand::Admin(expected.clone()), "{arguments}");
        }
        assert!(parse_with(&words, &[]).is_ok(), "{arguments}");
    }
    let problem = text(parse_with(&["migrate"], &[]));
    assert!(problem.starts_with("--database-url: missing"), "{problem}");
}

/// Wrong command lines, one per line or separated by `|`.
const WRONG_COMMAND_LINES: &str = "
        --seed-kye=promptarium_live_a1_s3cret=alice | promptarium_live_a1_s3cret=alice
        --listen | --listen foo | --listen ::1:80
        --listen 1 --listen 2 | --admin-listen promptarium_live_a1_s3cret=alice
        --public-url https://user:s3cret@example.com | --blob-store s3://user:s3cret@bucket
        --database-url s3cret | --database-pool 8 | --migrate later
        --database-url postgres://user:s3cret@localhost/name --database-pool 0
        --provider-url https://queue.example | --provider queue
        --provider queue --provider-url https://queue.example
        --provider queue --provider-url https://s3cret@queue.example --provider-key s3cret
        --provider queue --provider-url https://queue.example --provider-key s3crét
        --signing-key -s3cret | -s3cret | --workers 1001 | --model-namespace local/ | --vendor Acme
        --seed-key promptarium_live_a1_s3cret
        --seed-key promptarium_live_b1_s=b --seed-key s3cret=alice
        --seed-key promptarium_live_a1_s3cret=a serve --seed-key promptarium_live_b1_s=b
        --model-field =a=image_url | --log verbose | --drain-timeout -1 | --idle-timeout 0
        --memory-budget 47 | --rate-limit requests=5/1 | --cors-origin https://a.example/
        sevre | --seed-key promptarium_live_a1_s3cret=a --seed-key promptarium_live_a1_s3cret2=a
        key create --account a --name= | key | account create | account create a:b
        key create --account a --scope promptarium_live_a1_s3cret
        key create --account a --scope none --scope prompts:write
        key revoke promptarium_live_a1_s3cret | key revoke a promptarium_live_a1_s3cret | --log-format x";

#[test]
fn problems_are_one_line_and_name_the_flag_but_no_secret() {
    let problems: Vec<_> = WRONG_COMMAND_LINES
        .split(['|', '\n'])
        .filter(|line| !line.trim().is_empty())
        .map(|line| text(parse_with(&line.split_whitespace().collect::<Vec<_>>(), &[])))
        .collect();
    for problem in &problems {
        assert!(!problem.contains("s3cr") && !problem.contains('\n'), "{problem}");
    }
    insta::assert_snapshot!(problems.join("\n"), @r#"
    --seed-kye: unknown; did you mean --seed-key? See promptarium-server --help
    an argument (not shown): unknown command; see promptarium-server --help
    --listen: a value is missing; see promptarium-server --help
    --listen: the value is not an address; use HOST:PORT or PORT
    --listen: the value is not an address; put the IPv6 address in brackets, as in [::1]:8080
    --listen: given more than once; see promptarium-server --help
    --admin-listen: the value is not an address; use HOST:PORT or PORT
    --public-url: the value must have no user, query or fragment
    --blob-store: the value needs a bucket and a prefix of letters, digits, `.`, `_`, `-` and single slashes after s3://; keys and endpoint go into AWS_... variables
    --database-url: the value is not a database URL: it must begin with postgres:// or postgresql://
    --database-pool: needs --database-url
    --migrate: the value is not one of: auto, off
    --database-pool: the value is not an integer from 3 to 10000
    --provider: must be queue, because --provider-url is set
    --provider: queue needs --provider-url
    --provider: queue needs --provider-key
    --provider-url: the value is not an http or https address without user, query and fragment
    --provider-key: the value holds a key that is empty or has characters that no header can hold
    --signing-key: the value must have at least 32 characters
    -s: unknown; see promptarium-server --help
    --workers: the value is not an integer from 0 to 1000
    --model-namespace: the value is not a prefix; use letters, digits, `.`, `_` and `-`
    --vendor: the value is not a vendor; use lower-case letters and digits
    --seed-key: number 1 has no `=` between key and account (KEY=ACCOUNT[:SCOPE,...])
    --seed-key: number 2 has no key of the form promptarium_live_<public id>_<secret> before the `=`
    --seed-key: given before and after the command; use one place
    --model-field: the value is not PREFIX=FIELD with a field of: aspect_ratio, image_size, image_url, image_urls
    --log: the value is not a log filter; use off, error, warn, info, debug, trace, or a list of target=level
    --drain-timeout: the value is not a time; use whole seconds from 0 to 3600
    --idle-timeout: the value is not a time; use whole seconds from 1 to 3600
    --memory-budget: the value is not an integer from 48 to 1048576
    --rate-limit: the value is not a rate limit; use key or account, requests, generations or uploads, a number and seconds, such as key:requests=600/60
    --cors-origin: the value is not an origin; use SCHEME://HOST[:PORT] as browsers send it, or *
    sevre: unknown command; did you mean restore, serve? See promptarium-server --help
    --seed-key: number 2 has the public id of another one
    --name: the value is not the name of a key; use 1 to 100 characters
    a subcommand is missing; see promptarium-server --help
    <NAME>: missing; see promptarium-server --help
    <NAME>: the value is not an account name; use 1 to 200 characters without spaces, `:`, `,` and `=`
    --scope: the value is not one of: prompts:write, none
    --scope: given more than once; see promptarium-server --help
    <PUBLIC_ID>: the value is not a public id; use the part of the key between `_live_` and the last `_`
    an argument (not shown): unknown; see promptarium-server --help
    --log-format: the value is not one of: pretty, json
    "#);
}

#[test]
fn a_port_alone_is_one_of_this_machine_and_a_host_alone_has_port_8080() {
    for (text, address) in [
        ("8080", "127.0.0.1:8080"),
        (":8080", "127.0.0.1:8080"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("0.0.0.0", "0.0.0.0:8080"),
        ("localhost", "localhost:8080"),
        ("[::]", "[::]:8080"),
    ] {
        assert_eq!(config(&["--listen", text]).settings.listen, address);
    }
}

#[test]
fn a_wrong_variable_is_named() {
    // They take any text.
    let others =
        ["DATA", "LOG", "PROVIDER_KEY", "PROVIDER_URL"].map(|id| format!("PROMPTARIUM_{id}"));
    for name in settings().into_iter().filter(|name| !others.contains(name)) {
        let problem = text(parse_with(&[], &[(&name, "-s3cret/")]));
        assert!(problem.starts_with(&format!("{name}: ")), "{problem}");
        assert!(!name.ends_with("KEY") || !problem.contains("s3cret"), "{problem}");
    }
}

#[test]
fn a_flag_wins_over_its_variable_in_which_white_space_separates_values() {
    let seeds =
        [("PROMPTARIUM_SEED_KEY", "promptarium_live_a1_s=a:none\n promptarium_live_b1_s=b")];
    for (arguments, expected) in
        [(&[][..], &["a", "b"][..]), (&["--seed-key=promptarium_live_c1_s=c"], &["c"])]
    {
        assert_eq!(accounts(&parse_with(arguments, &seeds).unwrap().0), expected);
    }
    let twice = ["--seed-key=promptarium_live_a1_s=a"; 2];
    assert_eq!(config(&twice).seeds.len(), 2, "equal keys do not clash");
}

#[test]
fn an_unknown_variable_is_refused_and_the_nearest_one_named() {
    for (name, expected) in [
        ("DATABASE_UR", "unknown; did you mean PROMPTARIUM_DATABASE_URL? See"),
        ("HELP", "unknown; see"),
        ("listen", "unknown variable"),
        ("", "unknown variable"),
    ] {
        let name = format!("PROMPTARIUM_{name}");
        let problem = text(parse_with(&[], &[(&name, "postgres://user:s3cret@h/n")]));
        assert!(problem.trim_matches('"').starts_with(&name), "{problem}");
        assert!(problem.contains(expected) && !problem.contains("s3cret"), "{problem}");
        assert!(!text(parse_with(&["key", "list"], &[(&name, "x")])).contains("--database-url"));
        assert!(matches!(parse_with(&["-h"], &[(&name, "x")]), Err(ConfigError::Help(_))));
    }
}

#[test]
fn every_flag_is_in_one_group_of_the_help_and_the_everyday_ones_come_with_h() {
    let (long, short) = (text(parse_with(&["--help"], &[])), text(parse_with(&["-h"], &[])));
    let flags = |text: &str| text.matches("\n      --").count();
    assert_eq!((flags(&long), flags(&short)), (settings().len(), 11), "{long}\n{short}");
    assert!(!long.contains("\nOptions:\n      --"), "{long}");
    assert!(short.contains("Examples:") && short.lines().count() < 60, "{short}");
    for title in ["Server", "Data", "Files", "Provider of generations", "Limits", "Stopping"] {
        assert!(long.contains(&format!("\n{title}:\n")), "{long}");
    }
}

/// `compose` sets what has no value to an empty text, and a file with a value ends in a newline.
#[test]
fn a_variable_without_a_value_is_absent_and_white_space_around_one_does_not_count() {
    let values = [("LISTEN", "[::1]:80\n"), ("JOB_KEEP_DAYS", "9\r\n"), ("JSON", " true ")];
    let values = values.map(|(name, value)| (format!("PROMPTARIUM_{name}"), value));
    let absent =
        settings().into_iter().flat_map(|name| ["", " \n"].map(|value| (name.clone(), value)));
    for (name, value) in absent.chain(values) {
        assert!(parse_with(&[], &[(&name, value)]).is_ok(), "{name}");
    }
    let too_short = [("PROMPTARIUM_SIGNING_KEY", &*format!("{}\n", "s".repeat(31)))];
    let problem = text(parse_with(&[], &too_short));
    assert!(problem.contains("at least 32"), "{problem}");
}

proptest::proptest! {
    #[test]
    fn no_value_of_a_variable_panics_or_is_repeated_if_it_is_secret(
        at in 0..settings().len(),
        value in "\\PC*|[a-z]{0,9}:(//)?[^ ]{0,20}|[0-9:\\[\\].]{0,30}|-?[0-9]{0,25}",
        command in proptest::sample::select(vec![vec![], vec!["serve"], vec!["key", "list"]]),
    ) {
        let name = &settings()[at];
        let secret = ["SIGNING_KEY", "PROVIDER_KEY", "SEED_KEY", "DATABASE_URL"];
        let secret = secret.iter().any(|secret| name.ends_with(secret)) && value.len() > 8;
        if let Err(ConfigError::Invalid(problem)) = parse_with(&command, &[(name, &value)]) {
            proptest::prop_assert!(!secret || !problem.contains(&value), "{}", problem);
            proptest::prop_assert!(!problem.contains('\n'), "{}", problem);
        }
    }
}

#[test]
fn the_help_of_a_command_shows_its_own_flags_and_the_settings() {
    for (arguments, shown, hidden) in [
        (&["--help"][..], "--workers", "--scope"),
        (&["migrate", "--help"], "--distribute", "--scope"),
        (&["sign-in", "--help"], "--public-url", "--distribute"),
        (&["key", "list", "-h"], "--database-url", "--workers"),
        (&["key", "create", "--help"], "--scope", "--distribute"),
        (&["--version"], "promptarium-server", "--"),
    ] {
        let text = text(parse_with(arguments, &[]));
        assert!(text.contains(shown) && !text.contains(hidden), "{text}");
    }
}
