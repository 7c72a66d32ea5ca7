//! `GET /prompts/{promptId}`.

use serde_json::json;

use super::object::whole;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

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
    whole(&case.prompt().await?.read().await?, "/data")
}

async fn the_one_named(case: Case) -> Result<(), Failure> {
    for _ in 0..3 {
        case.prompt().await?;
        let title = case.name("named");
        let (prompt, _) = case.prompt_with(json!({ "title": title })).await?;
        case.prompt().await?;
        prompt.read().await?.equals("/data/id", prompt.id)?.equals("/data/title", title)?;
    }
    Ok(())
}

async fn query_ignored(case: Case) -> Result<(), Failure> {
    let prompt = case.prompt().await?;
    let path = format!("{}?limit=0&type=x&vaultId=", prompt.path());
    case.wire().get(&path).await?.status(200)?.equals("/data/id", prompt.id).map(drop)
}
