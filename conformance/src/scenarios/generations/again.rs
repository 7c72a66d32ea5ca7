//! The same clientJobId a second time, in our server (S-36): with the same body
//! it is the same job.

pub(super) mod conflict;

use futures::future::{join_all, try_join_all};
use http::Method;
use serde_json::{Value, json};

use super::job::{FAIL, body, completed, ended, finished, idle, own_id, queue, slow, status};
use super::saved::Saved;
use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.again.same-body" ["GE-11", "GE-30"] [LocalProvider] same_body,
        "The same id with the same body gives the same answer, and the output is there once \
         (S-36)" },
    reference! { "generations.again.at-once" ["GE-11", "GE-30"] [LocalProvider] at_once,
        "Eight equal requests at once give one job and one set of outputs (S-36)" },
    reference! { "generations.again.after-the-end" ["GE-11", "GE-29"] [LocalProvider] after_the_end,
        "A job that has ended, well or not, is given again and not begun again (S-36)" },
    reference! { "generations.again.form-of-the-body" ["GE-11"] [LocalProvider] form_of_the_body,
        "The order of keys and the space between them make no other body (S-36)" },
    reference! { "generations.again.two-accounts"
        ["GE-11", "GE-31"] [OtherAccount, LocalProvider] two_accounts,
        "Two accounts may use the same id, each for a job of its own (S-36)" },
    reference! { "generations.again.any-text" ["GE-05", "GE-11", "GE-31"] [LocalProvider] any_text,
        "An id is any text that fits, and statusUrl has it as one segment (S-36)" },
    reference! { "generations.again.case-matters" ["GE-11"] [LocalProvider] case_matters,
        "Ids that differ in the case of a letter or in form name different jobs (S-36, S-66)" },
];

/// Sends a body as it is; it must be taken.
async fn taken(case: &Case, body: &Value) -> Result<Reply, Failure> {
    let reply = case.wire().post("/generations", body.clone()).await?;
    reply.status(202)?;
    Ok(reply)
}

/// A body for a new vault, and the vault.
async fn for_a_vault(case: &Case, mut fields: Value) -> Result<(Value, i64), Failure> {
    let vault = make::vault(case, &case.wire()).await?;
    fields["vaultId"] = json!(vault);
    fields["clientJobId"] = json!(own_id(case));
    Ok((body(case, fields), vault))
}

async fn same_body(case: Case) -> Result<(), Failure> {
    let (body, vault) = for_a_vault(&case, json!({ "batchCount": 2 })).await?;
    let first = taken(&case, &body).await?;
    taken(&case, &body).await?.equals("/data", first.at("/data")?.clone())?;
    completed(&case, &case.wire(), first.string("/data/clientJobId")?).await?;
    finished(&case, json!({})).await?;
    let saved = Saved::in_vault(&case.wire(), vault).await?;
    saved.counts(2)?.one().map(drop)
}

async fn at_once(case: Case) -> Result<(), Failure> {
    let mut fields = slow(0.4);
    fields["batchCount"] = json!(2);
    let (body, vault) = for_a_vault(&case, fields).await?;
    let replies = try_join_all((0..8).map(|_| taken(&case, &body))).await?;
    let [first, rest @ ..] = &replies[..] else {
        return Err(Failure::error("eight answers", "none"));
    };
    for reply in rest {
        reply.equals("/data", first.at("/data")?.clone())?;
    }
    completed(&case, &case.wire(), first.string("/data/clientJobId")?).await?;
    finished(&case, json!({})).await?;
    let saved = Saved::in_vault(&case.wire(), vault).await?;
    saved.counts(2)?.one().map(drop)
}

async fn after_the_end(case: Case) -> Result<(), Failure> {
    for (fields, outputs) in [(json!({}), 1), (idle(json!({})), 0)] {
        let (body, vault) = for_a_vault(&case, fields).await?;
        let first = taken(&case, &body).await?;
        let id = first.string("/data/clientJobId")?;
        let last = ended(&case, &case.wire(), id).await?;
        taken(&case, &body).await?.equals("/data", first.at("/data")?.clone())?;
        finished(&case, json!({})).await?;
        status(&case.wire(), id).await?.equals("/data", last.at("/data")?.clone())?;
        Saved::in_vault(&case.wire(), vault).await?.counts(outputs)?;
    }
    Ok(())
}

async fn form_of_the_body(case: Case) -> Result<(), Failure> {
    let (id, name) = (own_id(&case), case.name("A harbour"));
    let forms = [
        format!(
            r#"{{"modelId":"{FAIL}","prompt":"{name}","clientJobId":"{id}","parameters":{{"a":1,"b":{{"c":[],"d":null}}}}}}"#
        ),
        format!(
            r#"{{ "parameters" : {{"b":{{"d":null,"c":[ ]}}, "a":1}},
                "clientJobId":"{id}", "prompt" : "{name}", "modelId": "{FAIL}" }}"#
        ),
        // Another spelling of the same text, and a field that nobody knows.
        format!(
            r#"{{"unknown":1,"modelId":"\u006cocal\/fail","prompt":"{name}","clientJobId":"{id}","parameters":{{"a":1,"b":{{"c":[],"d":null}}}}}}"#
        ),
    ];
    let mut answers = Vec::new();
    for form in forms {
        let call = case.wire().call(Method::POST, "/generations").body("application/json", form);
        let reply = call.send().await?;
        answers.push(reply.status(202)?.at("/data/providerRequestId")?.clone());
    }
    answers.dedup();
    check::equal("the number of different jobs", &answers.len(), &1)
}

async fn two_accounts(case: Case) -> Result<(), Failure> {
    let id = own_id(&case);
    let order =
        |name: &str| body(&case, idle(json!({ "clientJobId": id, "prompt": case.name(name) })));
    let mut requests = Vec::new();
    for (wire, name) in [(case.wire(), "mine"), (case.other(), "yours")] {
        let reply = wire.post("/generations", order(name)).await?;
        reply.status(202)?.equals("/data/clientJobId", id.clone())?;
        let request = reply.at("/data/providerRequestId")?.clone();
        let shown = status(&wire, &id).await?;
        shown.status(200)?.equals("/data/providerRequestId", request.clone())?;
        requests.push(request);
    }
    check::ensure(requests[0] != requests[1], "two jobs", "one request at the provider")
}

async fn any_text(case: Case) -> Result<(), Failure> {
    let long = "l".repeat(150);
    let odd =
        ["/", "?", "%", "%2F", " ", "#", "..", "a/../b", "\\", "\"", "+", "&=;", "漢é😀", &long];
    let tries = odd.map(|odd| {
        let case = &case;
        async move {
            let id = format!("{}{odd}", own_id(case));
            let job = queue(case, idle(json!({ "clientJobId": id }))).await?;
            job.answer.equals("/data/clientJobId", id.clone())?;
            let url = job.answer.string("/data/statusUrl")?;
            let path = url.strip_prefix(case.target().base_url()).unwrap_or_default();
            let parts = path.split(['/', '?', '#']).count();
            job.answer.ensure(parts == 4, "a statusUrl with the id as one segment", url)?;
            let reply = case.wire().get(path).await?;
            reply.accepted(200, format!("statusUrl of {id:?}"))?.equals("/data/clientJobId", id)?;
            Ok::<_, Failure>(())
        }
    });
    join_all(tries).await.into_iter().collect()
}

async fn case_matters(case: Case) -> Result<(), Failure> {
    let base = own_id(&case);
    // The last two look alike: one letter, and a letter with a combining mark.
    let ids = ["a", "A", " a", "a ", "\u{e9}", "e\u{301}"].map(|end| format!("{base}{end}"));
    let mut requests = Vec::new();
    for id in ids {
        let job = queue(&case, idle(json!({ "clientJobId": id }))).await?;
        requests.push(job.answer.string("/data/providerRequestId")?.to_owned());
    }
    let count = requests.len();
    requests.sort_unstable();
    requests.dedup();
    check::equal("the number of different jobs", &requests.len(), &count)
}
