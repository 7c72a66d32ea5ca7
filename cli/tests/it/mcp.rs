//! The server for AI clients, driven by messages as a client sends them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::program::{Library, run};

/// A client on standard input and output.
struct Client {
    child: Child,
    lines: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(library: &Library, arguments: &[&str]) -> Self {
        let mut command = library.command(&[&["mcp"], arguments].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, lines, next: 0 };
        let info = json!({ "name": "test", "version": "1" });
        let result = client.ask(
            "initialize",
            json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info }),
        );
        assert_eq!(result["result"]["serverInfo"]["name"], "promptarium");
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn send(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next message, which has to be one of the protocol.
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is made for the call")]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn names(&mut self, cursor: Option<&Value>) -> (Vec<String>, Value) {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let answer = self.ask("prompts/list", params);
        let prompts = answer["result"]["prompts"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let names = prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned());
        (names.collect(), answer["result"]["nextCursor"].clone())
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is made for the call")]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"].clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_menu_has_pinned_prompts_or_those_of_a_vault_in_pages_under_unique_names() {
    let library = Library::start();
    library.ok(&["vault", "new", "Many"]);
    let rows: String = (0..150).map(|n| format!("Same title,Text {n}\n")).collect();
    library.write("many.csv", &format!("title,text\n{rows}"));
    library.ok(&["import", "many.csv", "--yes", "--vault", "Many"]);
    let mut client = Client::start(&library, &["--vault", "many"]);
    let (mut names, cursor) = client.names(None);
    assert_eq!((names.len(), &*names[0]), (101, "library"));
    let (more, end) = client.names(Some(&cursor));
    names.extend(more);
    assert!(end.is_null());
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 151);
    let wrong = client.ask("prompts/list", json!({ "cursor": "nonsense" }));
    assert_eq!(wrong["error"]["code"], -32602);

    // Nothing is pinned: the newest, and no second page.
    let mut client = Client::start(&library, &[]);
    let (names, cursor) = client.names(None);
    assert_eq!((names.len(), cursor), (101, Value::Null));
    library.ok(&["vault", "pin", "Many", "7"]);
    assert_eq!(client.names(None).0, ["library", "same-title-7"]);
}

#[test]
fn variables_are_arguments_and_any_prompt_is_had_by_its_title() {
    let library = Library::start();
    library.ok(&["new", "Code review", "{{language|Rust}}: {{code}}"]);
    library.ok(&["new", "Long", &"x".repeat(15_000)]);
    let mut client = Client::start(&library, &[]);
    let answer = client.ask("prompts/list", json!({}));
    let prompt = &answer["result"]["prompts"][2];
    assert_eq!(prompt["name"], "code-review-1");
    let arguments = json!([
        { "name": "language", "description": "\"Rust\" if left out", "required": false },
        { "name": "code", "required": true },
    ]);
    assert_eq!(prompt["arguments"], arguments);
    let mut text = |name: &str, arguments: Value| {
        let answer = client.ask("prompts/get", json!({ "name": name, "arguments": arguments }));
        let text = answer["result"]["messages"][0]["content"]["text"].as_str();
        text.map_or_else(|| answer["error"].to_string(), str::to_owned)
    };
    assert_eq!(text("code-review-1", json!({ "code": "x" })), "Rust: x");
    // The title may have changed.
    assert_eq!(text("old-title-1", json!({ "code": "x", "language": "C" })), "C: x");
    assert_eq!(text("library", json!({ "title": "code review" })), "Rust: {{code}}");
    assert_eq!(text("library", json!({ "title": "long" })).len(), 15_000);
    assert!(text("library", json!({})).contains("neither a title nor an id is given"));
    for (name, said) in [
        ("code-review-1", "a value is missing for: code"),
        ("nothing-9", "there is no prompt"),
        ("nothing", "there is no prompt"),
    ] {
        let error = text(name, json!({}));
        assert!(error.contains(said) && error.contains("-32602"), "{error}");
    }
}

#[test]
fn titles_and_defaults_are_completed() {
    let library = Library::start();
    library.ok(&["new", "Code review", "{{language|Rust}}"]);
    library.ok(&["new", "Decode", "d"]);
    library.ok(&["new", "Poem", "code"]);
    let mut client = Client::start(&library, &[]);
    let mut values = |name: &str, argument: &str, value: &str| {
        let answer = client.ask(
            "completion/complete",
            json!({
            "ref": { "type": "ref/prompt", "name": name },
            "argument": { "name": argument, "value": value } }),
        );
        answer["result"]["completion"]["values"].clone()
    };
    assert_eq!(values("library", "title", "COD"), json!(["Decode", "Code review"]));
    assert_eq!(values("code-review-1", "language", ""), json!(["Rust"]));
    assert_eq!(values("code-review-1", "language", "C"), json!([]));
}

#[test]
fn tools_that_write_need_to_be_allowed_and_are_marked() {
    let library = Library::start();
    let mut reader = Client::start(&library, &[]);
    let mut writer = Client::start(&library, &["--write"]);
    let tools = |client: &mut Client| {
        let answer = client.ask("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        let hints = |tool: &Value, name: &str| tool["annotations"][name].as_bool().unwrap();
        let tools = tools.iter().map(|tool| {
            let name = tool["name"].as_str().unwrap().to_owned();
            (name, hints(tool, "readOnlyHint"), hints(tool, "destructiveHint"))
        });
        tools.collect::<Vec<_>>()
    };
    let reading =
        ["search_prompts", "get_prompt", "list_vaults"].map(|name| (name.to_owned(), true, false));
    assert_eq!(tools(&mut reader), reading);
    let writing =
        [("save_prompt".to_owned(), false, true), ("generate_image".to_owned(), false, false)];
    assert_eq!(tools(&mut writer)[3..], writing);
    let refused = reader.call("save_prompt", json!({ "title": "A", "text": "a" }));
    assert!(refused["isError"] == true && refused.to_string().contains("--write"), "{refused}");
    assert_eq!(library.ok(&["ls"]), "");
}

#[test]
fn tools_find_get_store_and_change_prompts_and_tell_what_is_wrong() {
    let library = Library::start();
    let mut client = Client::start(&library, &["--write"]);
    let saved = client.call("save_prompt", json!({ "title": "Tone", "text": "Be {{how}}" }));
    assert_eq!(saved["structuredContent"]["id"], 1);
    client.call("save_prompt", json!({ "id": 1, "title": "Tone", "text": "Be very {{how}}" }));
    let found = client.call("search_prompts", json!({ "query": "very" }));
    assert_eq!(found["structuredContent"]["prompts"][0]["title"], "Tone");
    let got =
        client.call("get_prompt", json!({ "prompt": "tone", "variables": { "how": "kind" } }));
    assert_eq!(got["content"][0]["text"], "Be very kind");
    // Models send numbers where a text is asked for.
    for prompt in [json!(1), json!("1")] {
        let got = client.call("get_prompt", json!({ "prompt": prompt, "variables": { "how": 7 } }));
        assert_eq!(got["content"][0]["text"], "Be very 7", "{got}");
    }
    let vaults = client.call("list_vaults", json!({}));
    assert_eq!(vaults["structuredContent"]["vaults"][0]["name"], "General");
    for (tool, arguments, said) in [
        ("get_prompt", json!({ "prompt": "nothing" }), "there is no prompt"),
        ("search_prompts", json!({ "limit": 1 }), "missing field `query`"),
        ("search_prompts", json!({ "words": "a" }), "unknown field `words`, expected one of"),
        ("save_prompt", json!({ "title": "", "text": "a" }), "title: must be 1 to 120"),
        ("generate_image", json!({ "model": "local/plasma" }), "model and text are required"),
        ("generate_image", json!({ "prompt": "a" }), "unknown field `prompt`, expected one of"),
        ("generate_image", json!({ "job": "nothing" }), "404"),
    ] {
        let result = client.call(tool, arguments);
        assert!(result["isError"] == true && result.to_string().contains(said), "{tool}: {result}");
    }
    assert_eq!(client.ask("tools/call", json!({ "name": "nothing" }))["error"]["code"], -32602);
}

#[test]
fn pictures_come_with_the_result_and_are_read_by_their_addresses_only() {
    let library = Library::start();
    let mut client = Client::start(&library, &["--write"]);
    let order = json!({ "model": "local/plasma", "text": "A harbour", "count": 2 });
    let result = client.call("generate_image", order);
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.iter().filter(|it| it["mimeType"] == "image/png").count(), 2, "{result}");
    let url = content[1]["text"].as_str().unwrap();
    let read = client.ask("resources/read", json!({ "uri": url }));
    assert_eq!(read["result"]["contents"][0]["blob"], content[2]["data"]);
    let listed = client.ask("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 2);
    let secret = library.write("secret", "x");
    for uri in ["http://127.0.0.1:9/x", &format!("file://{}", secret.display()), "secret"] {
        let answer = client.ask("resources/read", json!({ "uri": uri }));
        assert!(answer["error"]["message"].as_str().unwrap().contains("no prompt has"), "{answer}");
        assert_eq!(answer["error"]["data"]["uri"], uri);
    }
}

#[test]
fn malformed_messages_and_cancelled_calls_do_not_end_the_session() {
    let library = Library::start();
    let mut client = Client::start(&library, &["--write"]);
    client.send("not json");
    client.send("{\"jsonrpc\": \"2.0\", \"id\": 7}");
    client.send(
        &json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {
        "name": "generate_image", "arguments": { "model": "local/slow", "text": "A harbour" } } })
        .to_string(),
    );
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": "slow" } })
        .to_string(),
    );
    assert_eq!(client.ask("nothing", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_lost_server_is_one_error_for_each_call_and_the_session_goes_on() {
    let library = Library::start();
    let mut command = library.command(&[]);
    command.env("PROMPTARIUM_API_KEY", "promptarium_live_a_b");
    let revoked = Library::at(
        tokio::runtime::Runtime::new().unwrap(),
        library.url.clone(),
        "promptarium_live_a_b".into(),
    );
    let mut client = Client::start(&revoked, &[]);
    for _ in 0..2 {
        let result = client.call("list_vaults", json!({}));
        assert!(result["isError"] == true && result.to_string().contains("401"), "{result}");
        let error = client.ask("prompts/list", json!({}));
        assert_eq!(error["error"]["code"], -32603, "{error}");
        assert!(!error.to_string().contains("live_a_b"));
    }
}

#[test]
fn a_change_of_the_library_is_told_if_that_is_asked_for() {
    let library = Library::start();
    let mut client = Client::start(&library, &["--watch", "1"]);
    assert_eq!(client.names(None).0, ["library"]);
    library.ok(&["new", "A", "a"]);
    assert_eq!(client.receive()["method"], "notifications/prompts/list_changed");
    assert_eq!(client.names(None).0, ["library", "a-1"]);
}

#[test]
fn http_is_served_to_this_machine_and_to_no_page_of_another_origin() {
    let library = Library::start();
    let mut command = library.command(&["mcp", "--http", "127.0.0.1:0"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let address: SocketAddr = address.parse().unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } })
    .to_string();
    let status = |host: &str, origin: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        String::from_utf8_lossy(&head).split(' ').nth(1).unwrap().to_owned()
    };
    let host = address.to_string();
    assert_eq!(status(&host, ""), "200");
    assert_eq!(status(&host, "Origin: http://localhost:3000\r\n"), "200");
    assert_eq!(status(&host, "Origin: https://evil.example\r\n"), "403");
    assert_eq!(status("evil.example", ""), "403");
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = run(&mut library.command(&["mcp", "--http", "0.0.0.0:0"]), "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
