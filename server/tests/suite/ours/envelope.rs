//! The envelope and the conventions that hold for every endpoint: where requests go and what they
//! bring, the keys of every answer, the header x-request-id (S-69), the form of ids and of
//! timestamps, and what becomes of text (S-66).

use crate::prelude::*;
use promptarium_conformance::scenarios::endpoints::{refusals, successes};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { reads "versioning.prefix.only-v1" ["S-70"] only_v1,
        "There is nothing at other version prefixes, nor without one" },
    scenario! { "envelope.request-id.present" ["S-69"] present,
        "Every answer has an x-request-id of its own" },
    scenario! { reads "envelope.request-id.taken-over" ["S-69"] taken_over,
        "An answer repeats the x-request-id of the request, or replaces it if it is malformed" },
    scenario! { "envelope.success.no-more-keys" ["S-68"] no_more_keys,
        "A success has no key but data and error, and pagination on GET /prompts" },
    scenario! { "envelope.timestamps.form" ["S-63"] timestamps,
        "Timestamps are in UTC with six fractional digits and Z" },
    scenario! { "envelope.ids.ascending" ["S-64"] [OtherAccount] ascending,
        "Ids are positive and ascend across accounts, also after a deletion" },
    scenario! { "envelope.text.kept" ["S-66"] kept,
        "Text is stored as it was sent: nothing is trimmed or normalised" },
    scenario! { "envelope.text.empty" ["S-66"] empty,
        "Where only a maximum is stated any text is accepted, the empty one too" },
];

async fn only_v1(case: Case) -> Result {
    // The HTTP client resolves the dots before it sends.
    for prefix in ["/../v2", "/../v0", "/../V1", "/../v1.0", "/..", "/../../v1", "/v1", "/api/v1"] {
        case.wire().get(&format!("{prefix}/vaults")).await?.status(404)?;
    }
    Ok(())
}

async fn present(case: Case) -> Result {
    let mut seen = BTreeSet::new();
    let successes = successes(&case).await?.into_iter().map(|(_, reply)| reply);
    for reply in successes.chain(refusals(&case).await?) {
        let id = request_id(&reply)?;
        reply.ensure(seen.insert(id.clone()), "an x-request-id of its own", id)?;
    }
    let others = [(Method::PUT, "/prompts"), (Method::HEAD, "/vaults"), (Method::GET, "/x")];
    for (method, path) in others {
        request_id(&case.wire().call(method, path).send().await?)?;
    }
    Ok(())
}

async fn taken_over(case: Case) -> Result {
    let longest = "x".repeat(128);
    for id in ["a", "AZaz09._-", "0b2f6c1e-4a5d-4d6a-9f7e-1c2d3e4f5a6b", &longest] {
        for (wire, path) in [
            (case.wire(), "/vaults"),
            (case.wire(), "/prompts?limit=0"),
            (case.wire(), "/nowhere"),
            (case.anonymous(), "/vaults"),
        ] {
            let reply = wire.call(Method::GET, path).header("x-request-id", id).send().await?;
            let got = request_id(&reply)?;
            reply.ensure(got == id, format!("the x-request-id {id}"), got)?;
        }
    }
    let long = "x".repeat(129);
    for id in ["", "a b", "a/b", "a,b", "a\"b", "{\"a\":1}", "\u{e9}", &long] {
        let call = case.wire().call(Method::GET, "/vaults").header("x-request-id", id);
        let reply = call.send().await?;
        let (got, what) = (request_id(&reply)?, format!("another x-request-id than {id}"));
        reply.ensure(got != id, what, got)?;
    }
    Ok(())
}

/// The one id of an answer, which has the form the server makes and takes.
fn request_id(reply: &ApiResponse) -> Result<String> {
    let values: Vec<_> = reply.headers().get_all("x-request-id").iter().collect();
    let [Ok(id)] = values.iter().map(|value| value.to_str()).collect::<Vec<_>>()[..] else {
        return Err(reply.failure("one x-request-id", format!("{} of them", values.len())));
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let formed = (1..=128).contains(&id.len()) && id.chars().all(fits);
    reply.ensure(formed, "1 to 128 characters of A-Z a-z 0-9 . _ -", id)?;
    Ok(id.to_owned())
}

async fn no_more_keys(case: Case) -> Result {
    for (endpoint, reply) in successes(&case).await? {
        let paginated = endpoint.reads() && endpoint.template == "/prompts";
        let keys = ["data", "error", "pagination"];
        reply.has_only("", if paginated { &keys } else { &keys[..2] })?;
    }
    Ok(())
}

async fn timestamps(case: Case) -> Result {
    let is_in_our_form = |text: &str| {
        let form = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
        form.eq("0000-00-00T00:00:00.000000Z".chars())
    };
    let mut seen = 0;
    for (_, reply) in successes(&case).await? {
        for value in dates(reply.at("/data")?) {
            let fits = value.as_str().is_some_and(is_in_our_form);
            reply.ensure(fits, "the form 2025-03-01T09:30:00.000000Z", value)?;
            seen += 1;
        }
    }
    check::ensure(seen > 0, "a timestamp in any success", "none")
}

/// The timestamps of the API's own objects. A server may have others in further members (S-68).
fn dates(value: &Value) -> Vec<&Value> {
    let own = ["createdAt", "updatedAt"].into_iter().filter_map(|key| value.get(key));
    let entries = value.as_array().or_else(|| value["images"].as_array());
    own.chain(entries.into_iter().flatten().flat_map(dates)).collect()
}

async fn ascending(case: Case) -> Result {
    let members = case.vault().await?.fill(3).await?;
    let memberships: Vec<_> = members.iter().map(|member| member.id).collect();
    rising("memberships", &memberships)?;
    let (mut prompts, mut vaults) = (ids(&members), Vec::new());
    for case in [&case, &case.other_account(), &case] {
        let (prompt, vault) = (case.prompt().await?, case.vault().await?);
        prompts.push(prompt.id);
        vaults.push(vault.id);
        prompt.delete().await?.status(200)?;
        vault.delete().await?.status(200)?;
    }
    rising("prompts", &prompts)?;
    rising("vaults", &vaults)
}

fn rising(what: &str, ids: &[i64]) -> Result {
    let positive = ids.iter().all(|id| *id > 0);
    let expected = format!("positive ids of {what} that ascend");
    check::ensure(positive && ids.is_sorted_by(|a, b| a < b), &expected, json_text(&ids))
}

async fn kept(case: Case) -> Result {
    for value in [
        " ",
        "  spaces around\t",
        "\ttab and\r\nline break\n\u{2028}",
        "e\u{301} beside \u{e9}, \u{fb01} \u{212b} \u{1e9b}\u{323}",
        "\u{1f469}\u{200d}\u{1f680}",
        "\u{feff}\u{202e}right to left\u{a0}",
        "\u{10ffff}\u{1}\u{7f}\u{9f}\u{fffe}\u{e000}",
        "<b>&amp;</b> \"\\u0041' %00 ${x} -- ;",
    ] {
        let fields = json!({ "title": value, "prompt": value, "platform": value });
        let (prompt, created) = case.prompt_with(fields.clone()).await?;
        let other = case.prompt().await?;
        let updated = other.update(fields.clone()).await?;
        for reply in [created, prompt.read().await?, updated, other.read().await?] {
            stored(&reply, &fields)?;
        }
        let fields = json!({ "name": value, "description": value });
        let (vault, created) = case.vault_with(fields.clone()).await?;
        for reply in [created, vault.read().await?] {
            stored(&reply, &fields)?;
        }
    }
    Ok(())
}

fn stored(reply: &ApiResponse, fields: &Value) -> Result {
    let mut fields = fields.as_object().into_iter().flatten();
    fields.try_for_each(|(field, value)| {
        reply.success()?.equals(&format!("/data/{field}"), value.clone()).map(drop)
    })
}

async fn empty(case: Case) -> Result {
    for ratio in ["", "wide", "16/9", " 1:1 ", "😀"] {
        case.create_prompt(json!({ "aspectRatio": ratio })).await?.status(201)?;
    }
    let (_, created) = case.vault_with(json!({ "description": "" })).await?;
    created.status(201)?.equals("/data/description", "").map(drop)
}
