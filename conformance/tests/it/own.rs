//! A program adds scenarios of its own to the built-in ones.

use promptarium_conformance::scenarios::prelude::{Result, scenario};

use crate::prelude::*;

static OWN: &[Scenario] =
    &[scenario! { "acme.vaults.listed" ["VA-13"] lists_vaults, "The list of vaults is there" }];

static TAKEN: &[Scenario] =
    &[scenario! { "vaults.create.defaults" ["VA-19"] lists_vaults, "An id that is taken" }];

async fn lists_vaults(case: Case) -> Result {
    case.wire().get("/vaults").await?.status(200).map(drop)
}

#[tokio::test]
async fn a_scenario_that_was_added_is_selected_and_run_like_any_other() {
    let suite = Suite::builtin().with(OWN);
    assert_eq!(suite.scenarios().count(), Suite::builtin().scenarios().count() + 1);
    let filters = Filters { prefixes: vec!["acme.".into()], ..Filters::default() };
    let selection = Selection::new(&suite, filters).unwrap();
    let stub = Stub::always(Answer::no_vaults()).await;
    let report = finish(Run::new(stub.target(), selection)).await;
    let [record] = &report.records[..] else { panic!("one record: {:?}", report.records) };
    assert_eq!((record.id, record.outcome), ("acme.vaults.listed", Outcome::Passed));
    assert!(record.source.contains("tests/it/own.rs:"), "{}", record.source);
}

#[test]
#[should_panic(expected = "two scenarios have the id vaults.create.defaults")]
fn an_id_that_is_taken_is_refused() {
    let _ = Suite::builtin().with(TAKEN);
}
