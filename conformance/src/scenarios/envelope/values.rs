//! The form of ids and of timestamps, wherever they occur; what a character is and what becomes
//! of it (S-66).

use crate::fixture;
use crate::scenarios::endpoints::successes;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "envelope.timestamps.form" ["EN-09"] ("S-63") timestamps,
        "Timestamps are in UTC with six fractional digits and Z" },
    reference! { "envelope.ids.ascending" ["EN-08"] ("S-64") ascending,
        "Ids are positive and ascend in the order of creation" },
    reference! { "envelope.ids.across-accounts"
        ["EN-08", "PR-01", "VA-01"] ("S-64") [OtherAccount] across_accounts,
        "Ids ascend across the accounts of a server" },
    reference! { "envelope.ids.never-again" ["EN-08", "PR-01", "VA-01"] ("S-64") never_again,
        "The id of what was deleted is not given out again" },
    reference! { "envelope.text.kept" ["PR-02", "VA-02"] ("S-66") kept,
        "Text is stored as it was sent: nothing is trimmed or normalised" },
    reference! { "envelope.text.half-surrogate" ["EN-02"] ("S-66") half_surrogate,
        "Half a surrogate pair makes a body invalid JSON" },
    reference! { "envelope.text.empty" ["LI-04", "LI-07"] ("S-66") empty,
        "Where only a maximum is stated the empty string is accepted" },
];

const TIMESTAMP: &[&str] = &["createdAt", "updatedAt"];

fn is_in_our_form(text: &str) -> bool {
    let form = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
    form.eq("0000-00-00T00:00:00.000000Z".chars())
}

async fn timestamps(case: Case) -> Result {
    let mut seen = 0;
    for (_, reply) in successes(&case).await? {
        for value in found(reply.at("/data")?, TIMESTAMP) {
            let fits = value.as_str().is_some_and(is_in_our_form);
            reply.ensure(fits, "the form 2025-03-01T09:30:00.000000Z", value)?;
            seen += 1;
        }
    }
    check::ensure(seen > 0, "a timestamp in any success", "none")
}

/// The values under any of these keys in the API's own objects. What a server puts
/// into further members is its own affair (S-68).
fn found<'v>(value: &'v Value, keys: &[&str]) -> Vec<&'v Value> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(|entry| found(entry, keys)).collect(),
        Value::Object(fields) => {
            let own = keys.iter().filter_map(|key| fields.get(*key));
            let images = fields.get("images").into_iter();
            own.chain(images.flat_map(|images| found(images, keys))).collect()
        }
        _ => Vec::new(),
    }
}

async fn ascending(case: Case) -> Result {
    let vault = case.vault().await?;
    let members = vault.fill(3).await?;
    rising("prompts", &fixture::ids(&members))?;
    let memberships: Vec<_> = members.iter().map(|member| member.id).collect();
    rising("memberships", &memberships)?;
    rising("vaults", &[vault.id, case.vault().await?.id])
}

fn rising(what: &str, ids: &[i64]) -> Result {
    let positive = ids.iter().all(|id| *id > 0);
    let expected = format!("positive ids of {what} that ascend");
    check::ensure(positive && ids.is_sorted_by(|a, b| a < b), &expected, json_text(&ids))
}

async fn across_accounts(case: Case) -> Result {
    let (mut prompts, mut vaults) = (Vec::new(), Vec::new());
    for case in [&case, &case.other_account(), &case] {
        prompts.push(case.prompt().await?.id);
        vaults.push(case.vault().await?.id);
    }
    rising("prompts", &prompts)?;
    rising("vaults", &vaults)
}

async fn never_again(case: Case) -> Result {
    let (prompt, vault) = (case.prompt().await?, case.vault().await?);
    prompt.delete().await?.status(200)?;
    vault.delete().await?.status(200)?;
    rising("prompts", &[prompt.id, case.prompt().await?.id])?;
    rising("vaults", &[vault.id, case.vault().await?.id])
}

async fn kept(case: Case) -> Result {
    for value in [
        " ",
        "  two spaces around  ",
        "\ttab and\r\nline break\n",
        "e\u{301} beside \u{e9}",
        "\u{1f469}\u{200d}\u{1f680}",
        "\u{feff}\u{202e}\u{a0}\u{2028}",
        "\u{10ffff}\u{1}\u{7f}",
        "<b>&amp;</b> \"\\u0041' %00 ${x} -- ;",
    ] {
        for field in ["title", "prompt"] {
            let (prompt, created) = case.prompt_with(json!({ field: value })).await?;
            stored(field, value, [&created, &prompt.read().await?])?;
        }
        for field in ["name", "description"] {
            let (vault, created) = case.vault_with(json!({ field: value })).await?;
            stored(field, value, [&created, &vault.read().await?])?;
        }
    }
    Ok(())
}

fn stored(field: &str, value: &str, replies: [&ApiResponse; 2]) -> Result {
    replies[0].status(201)?;
    replies.iter().try_for_each(|reply| reply.equals(&format!("/data/{field}"), value).map(drop))
}

async fn half_surrogate(case: Case) -> Result {
    let prompt = case.prompt().await?;
    for escape in [r"\ud83d", r"\ude00", r"\ude00\ud83d", r"\ud83dx"] {
        let call = case.wire().call(http::Method::PATCH, &prompt.path());
        let call = call.body("application/json", format!(r#"{{"title":"{escape}"}}"#));
        check::with_context(escape, call.send().await?.status(400)?.at("/details/body"))?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result {
    case.create_prompt(json!({ "aspectRatio": "" })).await?.status(201)?;
    let (_, created) = case.vault_with(json!({ "description": "" })).await?;
    created.status(201)?.equals("/data/description", "").map(drop)
}
