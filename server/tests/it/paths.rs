//! The SDK's paths and the server's routes are the same.

use std::collections::BTreeSet;

use promptarium::{PromptId, VaultId, VaultPromptId, path};
use promptarium_server::test_support::{BASE_PATH, Routes, route_table, webhook_table};

#[test]
fn every_route_has_a_template_of_the_sdk_and_every_template_a_route() {
    let routes = [route_table(), webhook_table()]
        .concat()
        .into_iter()
        .filter(|route| route.base == BASE_PATH);
    let routes: BTreeSet<_> = routes.map(|route| route.path).collect();
    let templates = include_str!("../../../sdk/src/path.rs").lines();
    let templates = templates.filter(|line| line.starts_with("    "));
    let texts = templates.filter_map(|line| line.split_once(" = \"")?.1.split('"').next());
    assert_eq!(routes, texts.filter(|text| text.starts_with('/')).collect());
}

#[test]
fn every_path_the_sdk_builds_leads_back_to_its_ids() {
    let routes = Routes::new(route_table()).unwrap();
    let (prompt, vault, membership) =
        (PromptId::new(i64::MAX), VaultId::new(2), VaultPromptId::new(3));
    let (one, two, both) = ([Some(i64::MAX), None], [Some(2), None], [Some(2), Some(3)]);
    for (built, template, ids) in [
        (path::prompt(prompt), path::PROMPT, one),
        (path::prompt_save(prompt), path::PROMPT_SAVE, one),
        (path::vault(vault), path::VAULT, two),
        (path::vault_fork(vault), path::VAULT_FORK, two),
        (path::vault_prompts(vault), path::VAULT_PROMPTS, two),
        (path::vault_prompt(vault, membership), path::VAULT_PROMPT, both),
        (path::vault_prompt_move(vault, membership), path::VAULT_PROMPT_MOVE, both),
        (path::vault_prompt_pin(vault, membership), path::VAULT_PROMPT_PIN, both),
    ] {
        let row = route_table().into_iter().find(|row| row.path == template).unwrap();
        let path = format!("{BASE_PATH}{built}");
        let (found, params) = routes.find(&row.method, &path).unwrap();
        assert_eq!((found.path, [0, 1].map(|at| params.id(at))), (template, ids));
    }
}
