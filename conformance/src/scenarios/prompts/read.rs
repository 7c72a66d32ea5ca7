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
    reference! { "prompts.read.any-valid-key" ["PR-30"] [ReadOnlyKey] any_valid_key,
        "A key without prompts:write reads a prompt (S-50)" },
    reference! { "prompts.read.query-ignored" ["PR-30"] query_ignored,
        "A read ignores every query (S-03)" },
    reference! { "prompts.read.no-integer" ["PR-30", "ER-08"] no_integer,
        "A promptId that no prompt can have answers 404 (S-58)" },
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

async fn any_valid_key(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    case.read_only().get(&format!("/prompts/{prompt}")).await?.status(200)?;
    Ok(())
}

async fn query_ignored(case: Case) -> Result<(), Failure> {
    let prompt = make::prompt(&case, &case.wire()).await?;
    let reply = case.wire().get(&format!("/prompts/{prompt}?limit=0&type=x&vaultId=")).await?;
    reply.status(200)?.equals("/data/id", prompt)?;
    Ok(())
}

async fn no_integer(case: Case) -> Result<(), Failure> {
    let id = make::prompt(&case, &case.wire()).await?;
    for form in [
        "0".to_owned(),
        "-1".to_owned(),
        "abc".to_owned(),
        "null".to_owned(),
        "9223372036854775808".to_owned(),
        "100000000000000000000000000".to_owned(),
        format!("{id}.0"),
        format!("{id}e0"),
        format!("+{id}"),
        format!("-{id}"),
        format!("{id}%20"),
        format!("{id}%00"),
        format!("0x{id:x}"),
    ] {
        let reply = case.wire().get(&format!("/prompts/{form}")).await?;
        let got = reply.status_code();
        reply.ensure(got == 404, format!("status 404 for /prompts/{form}"), got)?;
    }
    Ok(())
}
