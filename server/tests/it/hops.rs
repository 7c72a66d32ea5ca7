//! How far a request is from its data: at most four calls from the socket to the store, and at most
//! four from the store's trait to the driver of the database.
//!
//! The sources are read, not run: each function must call the next one, so a function in between
//! must be added here and counts. A closure is part of the function that it is written in.

use std::fs;
use std::path::Path;

const CALLS_MAX: usize = 4;

/// A function: its file below `server/src`, where `pg` is `store/postgres`, its name, and the call that
/// leads to the next one.
type Step = &'static str;

const ACCEPTED: Step = "serve/connection serve_connection service.handle(";
const HANDLE: Step = "serve/service handle self.respond(";
/// The handler of the route, which the route table names.
const RESPOND: Step = "serve/service respond handler(api, &caller, request)";
/// Sends a statement alone, or when others of its key have ended, with others. The function is the
/// one that the batcher was made with.
const RUN: Step = "pg/batching run (self.send)(key";
const ROW: Step = "pg/send row_of_caller self.rows(";
const LAST: Step = "pg/send rows client.query(";
const IN_STEPS: Step = "pg/send row_of_steps self.rows(";
const IN_VAULT: Step = "pg/prompts create_in_vault self.db.row_of_steps(";
const CHANGE: Step = "pg/prompt_changes change self.db.row_of_steps(";

/// Frequent requests, from the function that hyper calls for each request to the store; and methods of
/// the store to the driver. A closure that a function is given to call is in the text of the function
/// that made it.
const CHAINS: [&[Step]; 11] = [
    &[ACCEPTED, HANDLE, RESPOND, "api/prompts get api.store.prompt("],
    &[ACCEPTED, HANDLE, RESPOND, "api/prompts list api.store.list_prompts("],
    &[ACCEPTED, HANDLE, RESPOND, "api/prompts create api.store.create_prompt("],
    &["pg/prompts prompt self.prompt_reads.run(", RUN, "pg/prompts read db.rows(", LAST],
    &["pg/prompts list_prompts self.pages.run(", RUN, "pg/listing read_page db.rows(", LAST],
    &["pg/prompts create_prompt self.prompt_writes.run(", RUN, "pg/prompts create db.rows(", LAST],
    &["pg/prompts create_prompt self.create_in_vault(", IN_VAULT, IN_STEPS, LAST],
    &["pg/prompts delete_prompt db.row_of_caller(", ROW, LAST],
    &["pg/prompts update_prompt self.change(", CHANGE, IN_STEPS, LAST],
    &["pg/memberships move_membership self.db.row_of_steps(", IN_STEPS, LAST],
    &["pg/memberships add_prompts self.db.row_of_steps(", IN_STEPS, LAST],
];

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
    let parts = chain.iter().map(|step| step.splitn(3, ' ').collect::<Vec<_>>());
    let parts: Vec<_> = parts.collect();
    let mut called = 0;
    for (at, step) in parts.iter().enumerate() {
        let (file, name, call) = (step[0], step[1], step[2]);
        let file = format!("{}.rs", file.replace("pg/", "store/postgres/"));
        assert!(body(&file, name).contains(call), "{file}: {name} does not call {call}");
        let next = parts.get(at + 1).map(|step| step[1]);
        // A closure of a function before is no function of its own.
        let is_closure = next.is_some_and(|next| parts[..=at].iter().any(|step| step[1] == next));
        called += usize::from(!is_closure);
        if let Some(next) = next.filter(|_| !is_closure) {
            let is_named =
                call.contains(&format!("{next}(")) || [RESPOND, RUN].contains(&chain[at]);
            assert!(is_named, "{name}: {call} is no call of {next}");
        }
    }
    called
}

#[test]
fn a_request_reaches_the_store_and_a_method_of_the_store_the_driver_in_four_calls() {
    for chain in CHAINS {
        assert!(calls(chain) <= CALLS_MAX, "{chain:?}");
    }
}

/// Otherwise a chain above could end elsewhere.
#[test]
fn one_function_sends_the_statements_of_requests() {
    let files = "batching db import jobs keys listing memberships prompt_changes prompts send \
                 sessions vaults";
    let senders = files.split_whitespace().flat_map(|file| {
        let text = source(&format!("store/postgres/{file}.rs"));
        let lines = text.split("#[cfg(test)]\nmod tests").next().unwrap().lines();
        let sends = |line: &&str| line.contains(".query(") || line.contains(".query_one(");
        vec![file; lines.filter(sends).count()]
    });
    assert_eq!(senders.collect::<Vec<_>>(), ["send", "send"]);
}
