//! Values of the wrong JSON type in the body of create and update.

use serde_json::{Value, json};

use super::attempt::{On, TEXTS, attempt, attempt_raw, both};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.types.title" ["ER-05", "PR-02"] title,
        "A title that is no string is refused with 400" },
    core! { "prompts.types.prompt" ["ER-05", "PR-02"] prompt,
        "A prompt text that is no string is refused with 400" },
    core! { "prompts.types.prompt-type-on-create" ["ER-05", "PR-22"] prompt_type_on_create,
        "A create with a promptType that is no string is refused with 400" },
    core! { "prompts.types.prompt-type-on-update" ["ER-05", "PR-35"] prompt_type_on_update,
        "An update with a promptType that is no string is refused with 400" },
    core! { "prompts.types.platform" ["ER-05", "PR-23"] platform,
        "A platform that is no string is refused with 400" },
    core! { "prompts.types.model-id" ["ER-05", "PR-25", "PR-35"] model_id,
        "A modelId that is no string is refused with 400" },
    core! { "prompts.types.aspect-ratio" ["ER-05", "PR-26", "PR-34"] aspect_ratio,
        "An aspectRatio that is no string is refused with 400" },
    core! { "prompts.types.image-url" ["ER-05", "PR-28", "PR-35"] image_url,
        "An imageUrl that is no string is refused with 400" },
    core! { "prompts.types.references" ["ER-05", "PR-29", "PR-35"] references,
        "A referenceMediaUrls that is no array of strings is refused with 400" },
    core! { "prompts.types.vault-id-on-create" ["ER-05", "PR-27"] vault_id_on_create,
        "A create with a vaultId that is no integer is refused with 400" },
    core! { "prompts.types.vault-id-on-update" ["ER-05", "PR-38"] vault_id_on_update,
        "An update with a vaultId that is no integer is refused with 400" },
    reference! { "prompts.types.null" ["ER-05"] null,
        "Null is refused, naming the field, for every field but platform (S-10)" },
    reference! { "prompts.types.integers" ["ER-05", "PR-27", "PR-38"] integers,
        "Only digits of at most 64 bits are an integer in a body (S-65)" },
    reference! { "prompts.types.named" ["ER-03", "ER-05"] named,
        "A field of the wrong type is named in details" },
];

fn no_strings() -> [Value; 6] {
    [json!(7), json!(1.5), json!(true), json!(false), json!(["a"]), json!({ "a": "b" })]
}

fn no_integers(vault: i64) -> [Value; 6] {
    let text = vault.to_string();
    [json!(text), json!("abc"), json!(1.5), json!(true), json!([vault]), json!({ "id": vault })]
}

async fn refuses(case: &Case, on: On, field: &str, values: &[Value]) -> Result<(), Failure> {
    for value in values {
        attempt(case, on, json!({ field: value })).await?.refused()?;
    }
    Ok(())
}

async fn both_refuse(case: &Case, field: &str, values: &[Value]) -> Result<(), Failure> {
    for on in both(case).await? {
        refuses(case, on, field, values).await?;
    }
    Ok(())
}

async fn title(case: Case) -> Result<(), Failure> {
    both_refuse(&case, "title", &no_strings()).await
}

async fn prompt(case: Case) -> Result<(), Failure> {
    both_refuse(&case, "prompt", &no_strings()).await
}

async fn prompt_type_on_create(case: Case) -> Result<(), Failure> {
    refuses(&case, On::Create, "promptType", &no_strings()).await
}

async fn prompt_type_on_update(case: Case) -> Result<(), Failure> {
    let on = On::Update(make::prompt(&case, &case.wire()).await?);
    refuses(&case, on, "promptType", &no_strings()).await
}

async fn platform(case: Case) -> Result<(), Failure> {
    both_refuse(&case, "platform", &no_strings()).await
}

async fn model_id(case: Case) -> Result<(), Failure> {
    both_refuse(&case, "modelId", &no_strings()).await
}

async fn aspect_ratio(case: Case) -> Result<(), Failure> {
    both_refuse(&case, "aspectRatio", &no_strings()).await
}

async fn image_url(case: Case) -> Result<(), Failure> {
    both_refuse(&case, "imageUrl", &no_strings()).await
}

async fn references(case: Case) -> Result<(), Failure> {
    let url = "https://example.com/a.png";
    let mut values = vec![json!(url), json!(7), json!(true), json!({ "0": url })];
    values.extend(no_strings().map(|entry| json!([url, entry])));
    values.push(json!([url, null]));
    both_refuse(&case, "referenceMediaUrls", &values).await
}

async fn vault_id_on_create(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    refuses(&case, On::Create, "vaultId", &no_integers(vault)).await
}

async fn vault_id_on_update(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let on = On::Update(make::prompt(&case, &case.wire()).await?);
    refuses(&case, on, "vaultId", &no_integers(vault)).await
}

async fn null(case: Case) -> Result<(), Failure> {
    let others = ["promptType", "referenceMediaUrls", "vaultId"];
    for on in both(&case).await? {
        for field in TEXTS.into_iter().chain(others).filter(|field| *field != "platform") {
            attempt(&case, on, json!({ field: null })).await?.names(field)?;
        }
    }
    Ok(())
}

async fn integers(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    for on in both(&case).await? {
        for written in [
            format!("{vault}.0"),
            format!("{vault}e0"),
            format!("{vault}E+0"),
            format!("\"{vault}\""),
            "9223372036854775808".to_owned(),
            "-9223372036854775809".to_owned(),
            format!("{}", u64::MAX),
            "1e400".to_owned(),
            "1e-400".to_owned(),
        ] {
            let fields = format!(r#""vaultId":{written}"#);
            attempt_raw(&case, on, &fields).await?.names("vaultId")?;
        }
    }
    Ok(())
}

async fn named(case: Case) -> Result<(), Failure> {
    for on in both(&case).await? {
        for field in TEXTS {
            attempt(&case, on, json!({ field: 7 })).await?.names(field)?;
        }
        for field in ["promptType", "referenceMediaUrls", "vaultId"] {
            attempt(&case, on, json!({ field: true })).await?.names(field)?;
        }
    }
    Ok(())
}
