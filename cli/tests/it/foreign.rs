//! The program at servers of the API that are not ours and have none of our extensions: one refuses
//! a search, two ignore it and return every prompt.

use tokio::runtime::Runtime;

use crate::independent::alternative::choices::{Choices, MINIMAL_IMAGES};
use crate::independent::alternative::{self, Secrets, TOLERANT, VERBOSE};
use crate::program::Library;

fn session(choices: &'static Choices) {
    let key = |part: &str| format!("other_live_{part}_0123456789abcdef");
    let keys = Secrets { main: key("1"), read_only: key("2"), other: key("3"), revoked: key("4") };
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(alternative::start(keys.clone(), choices)).unwrap();
    let library = Library::at(runtime, server.base_url(), keys.main);
    library.ok(&["vault", "new", "Kitchen"]);
    let id = library.ok(&["new", "Crème brûlée", "Sugar for {{guests}}", "--vault", "Kitchen"]);
    library.ok(&["new", "Soufflé", "Eggs and air"]);

    assert!(library.ok(&["ls", "--limit", "0"]).contains("Soufflé"));
    assert_eq!(library.json(&["search", "creme", "guests"]).len(), 1);
    assert_eq!(library.json(&["search", "eggs"])[0]["title"], "Soufflé");
    assert_eq!(library.run(&["search", "gravel"]).code, Some(4));
    assert_eq!(library.ok(&["show", "creme brulee", "--set", "guests=4"]), "Sugar for 4");
    library.ok(&["vault", "add", "Kitchen", "soufflé"]);
    library.ok(&["vault", "pin", "Kitchen", &id]);
    assert_eq!(library.json(&["ls", "--vault", "Kitchen"]).len(), 2);

    library.ok(&["export", "out", "--vault", "Kitchen"]);
    let name = format!("creme-brulee-{id}.md");
    assert!(library.names("out").contains(&name));
    library.write("more.csv", "title,text,vault\nRoux,Flour and butter,Sauces\n");
    library.ok(&["import", "more.csv", "--yes"]);
    library.ok(&["import", "more.csv", "--yes"]);
    assert_eq!(library.json(&["ls", "--vault", "Sauces"]).len(), 1);

    let before = server.jobs();
    library.ok(&["generate", choices.models[0], "A kitchen", "--vault", "Kitchen"]);
    assert_eq!(server.jobs() - before, 1);
    library.ok(&["rm", "Roux", "--yes"]);
    assert_eq!(library.run(&["show", "Roux"]).code, Some(4));
}

#[test]
fn a_server_that_refuses_unknown_parameters() {
    session(&VERBOSE);
}

#[test]
fn a_server_that_ignores_unknown_parameters_and_sends_the_minimum() {
    session(&MINIMAL_IMAGES);
}

#[test]
fn a_server_that_ignores_unknown_parameters_and_is_often_busy() {
    session(&TOLERANT);
}
