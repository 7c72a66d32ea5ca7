//! What each endpoint answers with: the stated status and the envelope, and each field of each
//! object in every answer that shows it, by its type. The values are for the chapters.

pub mod shapes;

use std::sync::LazyLock;

use self::shapes::{OBJECTS, Object, Shape};
use super::endpoints::{CONTENTS, Ids, ROWS, Row};
use super::shared::prelude::*;

pub static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let of_object =
        |object: &'static Object| object.fields.iter().map(move |field| of_field(object, field));
    ROWS.iter().map(of_endpoint).chain(OBJECTS.iter().flat_map(of_object)).collect()
});

fn of_endpoint(row: &'static Row) -> Scenario {
    let Row { name, method, template, status, rule, .. } = row;
    let data = if row.lists() { "an array" } else { "an object" };
    // Paths below the root need nothing but the address of the API.
    let is_collection = row.lists() && !template.contains('{');
    let mut rules = vec![*rule, "EN-03", "EN-04", "EN-05"];
    rules.extend(row.takes_body().then_some("EN-02"));
    rules.extend(["EN-01", "VE-01"].into_iter().filter(|_| is_collection));
    Scenario {
        needs: if *name == "fork-vault" { &[Need::OtherAccount] } else { &[] },
        reads: is_collection,
        ..Scenario::generated(
            format!("answers.success.{name}"),
            format!(
                "{method} {template}: a success is {status} with {data} in data, and error null"
            ),
            rules,
            move |case| succeeds(case, row),
        )
    }
}

async fn succeeds(case: Case, row: &Row) -> Result {
    let reply = success(&case, row).await?;
    let data = &reply.status(row.status)?.is_envelope()?["data"];
    reply.equals("/error", Value::Null)?;
    let (fits, what) = match row.lists() {
        true => (data.is_array(), "an array in data"),
        false => (data.is_object(), "an object in data"),
    };
    reply.ensure(fits, what, data).map(drop)
}

async fn success(case: &Case, row: &Row) -> Result<ApiResponse> {
    match row.name {
        "read-status" => Job::queue(case, json!({})).await?.status().await,
        "generate" => send(case, json!({ "vaultId": case.vault().await?.id })).await,
        "fork-vault" => {
            let public = json!({ "visibility": "public" });
            let source = case.other_account().vault_with(public).await?.0;
            case.vault_at(source.id).fork().await
        }
        _ => {
            // Set-up must not call the endpoint: its failure would block the scenario.
            let ids = match row.template {
                "/prompts" | "/vaults" => Ids::default(),
                CONTENTS if row.lists() => Ids { vault: case.vault().await?.id, ..Ids::default() },
                _ => Ids::make(case).await?,
            };
            row.call(case, &ids).send(&case.wire()).await
        }
    }
}

fn of_field(object: &'static Object, field: &'static Shape) -> Scenario {
    let id = format!("shapes.{}.{}", object.name, super::fields::dashed(field.name));
    let title = format!("In every {} {} is {}", object.words, field.name, field.kind);
    let mut rules = vec![field.rule];
    rules.extend(field.convention());
    Scenario::generated(id, title, rules, move |case| async move {
        let shown = (object.shown)(case).await?;
        shown.iter().try_for_each(|(reply, place)| field.is_in(reply.at(place)?, reply))
    })
}
