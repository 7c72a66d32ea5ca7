//! How far a request is from its data: at most four calls from the socket to the store, and at most
//! four from the store's trait to the driver of the database.
//!
//! The sources are read, not run: each function must call the next one, so a function in between
//! must be added here and counts. A closure is part of the function that it is written in.

use std::fs;
use std::path::Path;

const CALLS_MAX: usize = 4;

/// A function: its file in `server/src`, its name, and the call that leads to the next one.
type Step = (&'static str, &'static str, &'static str);

/// Frequent requests, from the function that hyper calls for each request.
const TO_THE_STORE: [&[Step]; 3] = [
    &[ACCEPTED, HANDLE, RESPOND, ("api/prompts.rs", "get", "api.store.prompt(")],
    &[ACCEPTED, HANDLE, RESPOND, ("api/prompts.rs", "list", "api.store.list_prompts(")],
    &[ACCEPTED, HANDLE, RESPOND, ("api/prompts.rs", "create", "api.store.create_prompt(")],
];
const ACCEPTED: Step = ("serve/connection.rs", "serve_connection", "service.handle(");
const HANDLE: Step = ("serve/service.rs", "handle", "self.respond(");
/// The handler of the route, which the route table names.
const RESPOND: Step = ("serve/service.rs", "respond", "handler(api, &caller, request)");

const DB: &str = "store/postgres/db.rs";
const STEPS: &str = "store/postgres/steps.rs";

/// Sends a statement alone, or when others of its key have ended, with others.
const RUN: Step = ("store/postgres/batching.rs", "run", SEND);
/// Of the function that the batcher was made with.
const SEND: &str = "(self.send)(key";
const ROW: Step = (DB, "row_of_caller", "self.rows(");
const LAST: Step = (DB, "rows", "client.query(");
const IN_STEPS: Step = (STEPS, "row_of_steps", "self.transaction(");
const SENT: Step = (STEPS, "transaction", "client.query(");

/// Methods of the store. A closure that a function is given to call is in the text of the function
/// that made it.
const TO_THE_DRIVER: [&[Step]; 8] = [
    &[prompts("prompt", "self.prompt_reads.run("), RUN, prompts("read", "db.rows("), LAST],
    &[prompts("list_prompts", "self.pages.run("), RUN, READ_PAGE, LAST],
    &[
        prompts("create_prompt", "self.prompt_writes.run("),
        RUN,
        prompts("create", "db.rows("),
        LAST,
    ],
    &[prompts("create_prompt", TO_ROW), ROW, LAST],
    &[prompts("delete_prompt", TO_ROW), ROW, LAST],
    &[prompts("update_prompt", "self.change("), CHANGE, IN_STEPS, SENT],
    &[memberships("move_membership", TO_STEPS), IN_STEPS, SENT],
    &[memberships("add_prompts", TO_ROW), ROW, LAST],
];
const TO_ROW: &str = "db.row_of_caller(";
const READ_PAGE: Step = ("store/postgres/listing.rs", "read_page", "db.rows(");
const CHANGE: Step = ("store/postgres/prompt_changes.rs", "change", TO_STEPS);
const TO_STEPS: &str = "self.db.row_of_steps(";

const fn prompts(name: &'static str, call: &'static str) -> Step {
    ("store/postgres/prompts.rs", name, call)
}

const fn memberships(name: &'static str, call: &'static str) -> Step {
    ("store/postgres/memberships.rs", name, call)
}

fn source(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)).unwrap()
}

/// The text of a function in rustfmt's layout, to the brace that closes it.
fn body(file: &str, name: &str) -> String {
    let text = source(file);
    let starts = [format!(" fn {name}("), format!(" fn {name}<")];
    let start = starts.iter().find_map(|start| text.find(start.as_str()));
    let start = start.unwrap_or_else(|| panic!("{file} has no function {name}"));
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = text[line..].len() - text[line..].trim_start().len();
    let end = text[start..].find(&format!("\n{}}}\n", " ".repeat(indent)));
    text[start..start + end.unwrap()].to_owned()
}

/// The number of functions that a chain calls. Fails if one does not call the next.
fn calls(chain: &[Step]) -> usize {
    let mut called = 0;
    for (at, (file, name, call)) in chain.iter().enumerate() {
        assert!(body(file, name).contains(call), "{file}: {name} does not call {call}");
        let next = chain.get(at + 1).map(|(_, next, _)| *next);
        // A closure of a function before is no function of its own.
        let is_closure = next.is_some_and(|next| chain[..=at].iter().any(|step| step.1 == next));
        called += usize::from(!is_closure);
        if let Some(next) = next.filter(|_| !is_closure) {
            let named = call.contains(&format!("{next}("))
                || ["handler(", SEND].iter().any(|of| call.starts_with(of));
            assert!(named, "{name}: {call} is no call of {next}");
        }
    }
    called
}

#[test]
fn a_request_reaches_the_store_in_four_calls() {
    for chain in TO_THE_STORE {
        assert!(calls(chain) <= CALLS_MAX, "{chain:?}");
    }
}

#[test]
fn a_method_of_the_store_reaches_the_driver_in_four_calls() {
    for chain in TO_THE_DRIVER {
        assert!(calls(chain) <= CALLS_MAX, "{chain:?}");
    }
}

/// Otherwise a chain above could end elsewhere.
#[test]
fn two_functions_send_the_statements_of_requests() {
    let mut senders = Vec::new();
    for file in [
        "batching",
        "contents",
        "db",
        "forks",
        "jobs",
        "keys",
        "listing",
        "memberships",
        "prompt_changes",
        "prompts",
        "sessions",
        "steps",
        "vaults",
    ] {
        let file = format!("store/postgres/{file}.rs");
        let text = source(&file);
        let lines = text.split("#[cfg(test)]\nmod tests").next().unwrap().lines();
        let sends = |line: &&str| line.contains(".query(") || line.contains(".query_one(");
        senders.extend(lines.filter(sends).map(|_| file.clone()));
    }
    assert_eq!(senders, ["store/postgres/db.rs", "store/postgres/steps.rs"]);
}
