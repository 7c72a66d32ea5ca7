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

const PROMPTS: &str = "store/postgres/prompts.rs";
const MEMBERSHIPS: &str = "store/postgres/memberships.rs";
const BATCHING: &str = "store/postgres/batching.rs";
const DB: &str = "store/postgres/db.rs";
const STEPS: &str = "store/postgres/steps.rs";

/// From the function that hyper calls for each request.
fn to_the_store(handler: &'static str, call: &'static str) -> Vec<Step> {
    vec![
        ("serve/connection.rs", "serve_connection", "service.handle("),
        ("serve/service.rs", "handle", "self.respond("),
        // The handler of the route, which the route table names.
        ("serve/service.rs", "respond", "handler(api, &caller, request)"),
        ("api/prompts.rs", handler, call),
    ]
}

/// A method whose statement is sent alone, or when others of its key have ended, with others. A
/// closure that a function is given to call is in the text of the function that made it.
fn batched(method: &'static str, run: &'static str, rows: &'static str, db: Step) -> Vec<Step> {
    let batching = (BATCHING, "run", "send(vec![input])");
    vec![
        (PROMPTS, method, run),
        batching,
        (PROMPTS, method, rows),
        db,
        (DB, "rows", "client.query("),
    ]
}

fn alone(file: &'static str, method: &'static str) -> Vec<Step> {
    let row = (DB, "row_of_caller", "self.rows(");
    vec![(file, method, "db.row_of_caller("), row, (DB, "rows", "client.query(")]
}

fn in_steps(file: &'static str, method: &'static str) -> Vec<Step> {
    vec![
        (file, method, "self.db.row_of_steps("),
        (STEPS, "row_of_steps", "self.run("),
        (STEPS, "run", "transaction("),
        (STEPS, "row_of_steps", "send(&busy.client"),
        (STEPS, "send", "client.query("),
    ]
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
            let named = call.contains(&format!("{next}(")) || call.starts_with("handler(");
            assert!(named, "{name}: {call} is no call of {next}");
        }
    }
    called
}

#[test]
fn a_request_reaches_the_store_and_that_the_driver_in_four_calls_each() {
    let rows = (DB, "rows_of_caller", "self.rows(");
    let (to_rows, list) = ("db.rows_of_caller(", (DB, "list_of_caller", "self.rows("));
    for chain in [
        to_the_store("get", "api.store.prompt("),
        to_the_store("list", "api.store.list_prompts("),
        to_the_store("create", "api.store.create_prompt("),
        batched("prompt", "self.prompt_reads.run(", to_rows, rows),
        batched("list_prompts", "self.pages.run(", "db.list_of_caller(", list),
        batched("create_prompt", "self.prompt_writes.run(", to_rows, rows),
        alone(PROMPTS, "create_prompt"),
        alone(PROMPTS, "delete_prompt"),
        alone(MEMBERSHIPS, "add_prompts"),
        in_steps(PROMPTS, "update_prompt"),
        in_steps(MEMBERSHIPS, "move_membership"),
    ] {
        assert!(calls(&chain) <= CALLS_MAX, "{chain:?}");
    }
}

/// Otherwise a chain above could end elsewhere.
#[test]
fn two_functions_send_the_statements_of_requests() {
    let files = "batching contents db forks jobs keys listing memberships prompt_changes prompts \
                 sessions steps vaults";
    let senders = files.split_whitespace().filter(|file| {
        let text = source(&format!("store/postgres/{file}.rs"));
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        assert!(
            code.matches(".query(").count() + code.matches(".query_one(").count() <= 1,
            "{file}"
        );
        code.contains(".query(") || code.contains(".query_one(")
    });
    assert_eq!(senders.collect::<Vec<_>>(), ["db", "steps"]);
}
