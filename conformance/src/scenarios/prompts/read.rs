//! `GET /prompts/{promptId}`.

use serde_json::json;

use super::object::whole;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.read.answer" ["PR-30"] answer,
        "A read answers 200 with the whole prompt object" },
    core! { "prompts.read.the-one-named" ["PR-30"] the_one_named,
        "A read answers with the prompt that the path names" },
    reference! { "prompts.read.query-ignored" ["PR-30"] query_ignored,
        "A read ignores every query (S-03)" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    let reply = case.wire().get(&format!("/prompts/{prompt}")).await?;
    whole(reply.status(200)?, "/data")
}

async fn the_one_named(case: Case) -> Result<(), Failure> {
    for _ in 0..3 {
        make::prompt(&case, &case.wire()).await?;
        let title = case.name("named");
        let made = make::prompt_with(&case, &case.wire(), json!({ "title": title })).await?;
        let id = made.integer("/data/id")?;
        make::prompt(&case, &case.wire()).await?;
        let reply = case.wire().get(&format!("/prompts/{id}")).await?;
        reply.status(200)?.equals("/data/id", id)?.equals("/data/title", title)?;
    }
    Ok(())
}

async fn query_ignored(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    let reply = case.wire().get(&format!("/prompts/{prompt}?limit=0&type=x&vaultId=")).await?;
    reply.status(200)?.equals("/data/id", prompt)?;
    Ok(())
}
