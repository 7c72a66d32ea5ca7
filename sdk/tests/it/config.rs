//! The settings of a client, and their errors.

use std::ffi::OsStr;
use std::process::Command;

use insta::assert_snapshot;
use promptarium::Client;

use crate::stub::KEY;

const URL: &str = "https://prompts.example/api/v1";

fn complaint(base_url: &str, api_key: &str) -> String {
    let error = Client::new(base_url, api_key).unwrap_err();
    assert!(error.is_config() && !error.is_retryable() && error.status().is_none());
    error.to_string()
}

#[test]
fn a_base_url_that_cannot_be_used_is_refused() {
    let complaint = |base_url| complaint(base_url, KEY);
    assert_snapshot!(complaint(""), @"the base URL cannot be used: it is not an absolute URL");
    assert_snapshot!(complaint("/api/v1"), @"the base URL cannot be used: it is not an absolute URL");
    assert_snapshot!(complaint("prompts.example/api/v1"), @"the base URL cannot be used: it is not an absolute URL");
    assert_snapshot!(complaint("localhost:8080/api/v1"), @"the base URL cannot be used: its scheme is neither http nor https");
    // An empty host, which a parser of URLs finds in the path, and other things that it repairs.
    for url in [
        "http:///api/v1",
        "https:prompts.example/api/v1",
        r"http:\\prompts.example",
        "http://prompts\n.example",
        "'http://prompts.example'",
    ] {
        assert_eq!(complaint(url), "the base URL cannot be used: it is not an absolute URL");
    }
    assert_snapshot!(complaint("ftp://prompts.example"), @"the base URL cannot be used: its scheme is neither http nor https");
    assert_snapshot!(complaint("https://a:b@prompts.example"), @"the base URL cannot be used: it contains a user name or a password");
    assert_snapshot!(complaint("https://prompts.example/?x=1"), @"the base URL cannot be used: it contains a query or a fragment");
    assert_snapshot!(complaint("https://prompts.example/#x"), @"the base URL cannot be used: it contains a query or a fragment");
}

#[test]
fn a_key_that_cannot_be_used_is_refused_and_not_repeated() {
    let complaint = |api_key| complaint(URL, api_key);
    assert_snapshot!(complaint(""), @"the API key cannot be used: it is blank");
    assert_snapshot!(complaint(" \n"), @"the API key cannot be used: it is blank");
    for api_key in ["s3cret\n", "s3cret s3cret", "s3cret\u{e9}", "s3cret\0"] {
        assert_eq!(
            complaint(api_key),
            "the API key cannot be used: it contains a space, a line break or another character \
             that is not in a key"
        );
    }
}

#[test]
fn base_url_and_key_are_required() {
    let text = |builder: promptarium::ClientBuilder| builder.build().unwrap_err().to_string();
    assert_snapshot!(text(Client::builder().api_key(KEY)), @"the base URL is not set");
    assert_snapshot!(text(Client::builder().base_url(URL)), @"the API key is not set");
    let builder = Client::builder().base_url(URL).api_key(KEY).user_agent("line\nbreak");
    assert_snapshot!(text(builder), @"the user agent contains a character that is not allowed in a header");
}

#[test]
fn swapped_arguments_do_not_show_the_key() {
    assert!(!complaint(KEY, URL).contains("s3cret"));
}

#[test]
fn debug_shows_the_base_url_and_never_the_key() {
    let builder = Client::builder().base_url(format!("{URL}/")).api_key(KEY).user_agent("my-app/1");
    assert_snapshot!(format!("{builder:?}"), @r#"ClientBuilder { limits: Limits { connect: 10s, idle: 20s, first_byte: 20s, attempt: 60s, call: 120s, call_setting: Call, deadline: None }, max_response_size: 134217728, retry: RetryPolicy { max_attempts: 3, initial_backoff: 200ms, max_backoff: 10s, max_retry_after: 60s, max_rate_limit_wait: 120s }, retry_budget: RetryBudget { left: Some(80), .. }, user_agent: Some("my-app/1"), .. }"#);
    let client = builder.build().unwrap();
    assert_snapshot!(format!("{client:?}"), @r#"Client { base_url: "https://prompts.example/api/v1", .. }"#);
    let call = client.prompts().get(promptarium::PromptId::new(7));
    assert_snapshot!(format!("{call:?}"), @r#"Call { client: Client { base_url: "https://prompts.example/api/v1", .. }, options: CallOptions { timeout: None, request_timeout: None, idle_timeout: None, retry: None, is_idempotent: false, deadline: None, headers: {}, invalid: None }, builder: Request { route: Route { method: GET, template: "/prompts/{promptId}" }, query: [], .. } }"#);
}

#[test]
fn timeouts_are_finite_by_default() {
    let settings = format!("{:?}", Client::builder());
    assert!(
        settings.contains("connect: 10s, idle: 20s, first_byte: 20s, attempt: 60s, call: 120s")
    );
}

#[test]
fn a_client_and_its_calls_can_go_to_another_thread() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let client = Client::new(URL, KEY).unwrap();
    shared(&client);
    shared(&client.prompts());
    shared(&client.prompts().create("t", "p"));
}

#[test]
fn the_environment_sets_base_url_and_key() {
    let run = |variables: &[(&str, &OsStr)]| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "config::what_the_environment_makes", "--nocapture"]);
        child.env_remove("PROMPTARIUM_BASE_URL").env_remove("PROMPTARIUM_API_KEY");
        let output = child.envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let url = |text| ("PROMPTARIUM_BASE_URL", OsStr::new(text));
    let key = |text| ("PROMPTARIUM_API_KEY", OsStr::new(text));
    assert!(
        run(&[url(URL), key(KEY)])
            .contains(r#"<Client { base_url: "https://prompts.example/api/v1", .. }>"#)
    );
    #[cfg(unix)]
    let undecodable = std::os::unix::ffi::OsStrExt::from_bytes(b"http://h\xff");
    let failures: &[(&[_], &str)] = &[
        (&[key(KEY)], "PROMPTARIUM_BASE_URL is not set"),
        (&[url(URL)], "PROMPTARIUM_API_KEY is not set"),
        (&[url(URL), key(" ")], "PROMPTARIUM_API_KEY cannot be used: it is blank"),
        (&[url("h/a"), key("k")], "PROMPTARIUM_BASE_URL cannot be used: it is not an absolute URL"),
        #[cfg(unix)]
        (&[("PROMPTARIUM_BASE_URL", undecodable)], "PROMPTARIUM_BASE_URL is not valid Unicode"),
    ];
    for (variables, problem) in failures {
        let output = run(variables);
        assert!(output.contains(&format!("<the environment variable {problem}>")), "{output}");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own with variables of its own"]
fn what_the_environment_makes() {
    match Client::from_env() {
        Ok(client) => println!("<{client:?}>"),
        Err(error) => println!("<{error}>"),
    }
}
