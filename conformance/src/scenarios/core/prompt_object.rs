//! The prompt object, wherever an answer holds one: its values, what it does not show, and when
//! `updatedAt` changes. That it has its fields, of their types, is in `answers`.

use super::prompt_create::typed;
use crate::scenarios::shared::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "prompts.object.id-unique" ["PR-01"]
        |case| async move { check::distinct("ids of prompts", ids(case.prompts(16).await?)) },
        "Prompts that are made at the same moment have different ids" },
    scenario! { "prompts.object.title-and-text" ["PR-02", "PR-19"] title_and_text,
        "Title and prompt are strings that hold what was stored" },
    scenario! { "prompts.object.type" ["PR-03"] kind,
        "The promptType of a prompt is the one it was made with" },
    scenario! { "prompts.object.vault-ids" ["PR-08", "VC-02"] names_its_vaults,
        "The vaultIds are integers and name every vault the prompt is in, and no other" },
    scenario! { "prompts.object.no-membership" ["PR-11"]
        |case| hides(case, &["vaultPromptId", "isPinned"]),
        "No prompt object but those of a vault's listing has vaultPromptId or isPinned" },
    scenario! { "prompts.object.no-input" ["PR-12"]
        |case| hides(case, &["modelId", "aspectRatio", "vaultId", "imageUrl", "referenceMediaUrls"]),
        "A prompt object does not show the fields that are input only" },
    scenario! { "prompts.texts.exact" ["PR-02", "PR-19"] exact_texts,
        "Any text of a prompt or a vault is stored exactly or refused, without a server error" },
    scenario! { "prompts.updated-at.changes" ["PR-10"] changes,
        "An update changes updatedAt" },
];

async fn hides(case: Case, fields: &[&str]) -> Result {
    for (reply, place) in in_every_answer(&case, all_inputs(&case)).await? {
        let prompt = reply.at(&place)?;
        reply.equals(&format!("{place}/platform"), "poster")?;
        let hidden = fields.iter().all(|field| prompt.get(field).is_none());
        reply.ensure(hidden, format!("none of {}", json_text(&fields)), prompt)?;
    }
    Ok(())
}

async fn title_and_text(case: Case) -> Result {
    for (title, text) in [
        ("Dusk", "A lighthouse at dusk"),
        ("\"Quoted\" \\ / & <b> %20 ${x} '; --", "{\"json\": [1, null]}\nand a second line"),
        ("2025-03-01", "true"),
        ("12345", "1e3"),
        ("Château 漢字 日本", "Ein großer Ölkrug, žluťoučký kůň, 灯台"),
    ] {
        let fields = json!({ "title": title, "prompt": text });
        let (prompt, created) = case.prompt_with(fields.clone()).await?;
        created.shows(&fields)?;
        prompt.read().await?.shows(&fields)?;
    }
    Ok(())
}

/// Texts that programs trip over, as they stand in JSON.
#[rustfmt::skip]
const ODD_TEXTS: [&str; 24] = [
    r"a\\b", r"e\u0301 a\u0308", r"\u0000", r"a\u0000b", r"\ud800", r"a\udc00b", r"\u202eabc",
    r"a\u2028b", r"a\r\nb\tc", r"a\u007fb", r"x\u0085y", "👩\u{200d}👧", "%00 %s %n",
    "<b>a&amp;b</b>", "' OR 1=1 --", "{{name}} ${x} #{y}", r"a  b \n c", "1e400", "null",
    r"a\ufeffb", r"a\\nb", "007", "None", "2025-03-01T09:30:00Z",
];

/// By a create and by an update.
async fn exact_texts(case: Case) -> Result {
    let (prompt, vault) = (case.prompt().await?.path(), case.vault().await?.path());
    let created = ["/prompts", "/vaults"].map(|path| (Method::POST, path));
    let updated = [prompt.as_str(), &vault].map(|path| (Method::PATCH, path));
    let ways = created.into_iter().chain(updated);
    try_join_all(ways.map(|(method, path)| each_text(&case, method, path))).await.map(drop)
}

/// Something has the run id each time. A name that is taken may be refused (S-17).
async fn each_text(case: &Case, method: Method, path: &str) -> Result {
    const PROMPTS: [&str; 2] =
        [r#"{"title":"$T","prompt":"$T $N","platform":"$T"}"#, r#"{"title":"$N","prompt":"$T"}"#];
    const VAULTS: [&str; 2] =
        [r#"{"name":"$T","description":"$N"}"#, r#"{"name":"$T $N","description":"$T"}"#];
    let is_prompt = path.starts_with("/prompts");
    let (collection, bodies) = if is_prompt { ("prompts", PROMPTS) } else { ("vaults", VAULTS) };
    for text in ODD_TEXTS {
        let own = case.name("odd");
        for body in bodies.map(|body| body.replace("$T", text).replace("$N", &own)) {
            let call = case.wire().call(method.clone(), path);
            let reply = call.body("application/json", body.clone()).send().await?;
            if reply.unless_refused(format!("the text {text}"))?.is_some() {
                let id = reply.integer("/data/id")?;
                let read = case.wire().get(&format!("/{collection}/{id}")).await?;
                read.shows(&serde_json::from_str(&body).unwrap_or_default())?;
            }
        }
    }
    Ok(())
}

async fn kind(case: Case) -> Result {
    for kind in ["image", "video", "text"] {
        for (reply, place) in in_every_answer(&case, typed(&case, kind)).await? {
            reply.equals(&format!("{place}/promptType"), kind)?;
        }
    }
    Ok(())
}

async fn names_its_vaults(case: Case) -> Result {
    let (vaults, prompt) = (case.vaults::<4>().await?, case.prompt().await?);
    for inside in 1..=3 {
        vaults[inside - 1].add_in_turn([&prompt]).await?;
        prompt.expect_vaults(&vaults, &vaults[..inside]).await?;
    }
    Ok(())
}

async fn changes(case: Case) -> Result {
    let (prompt, created) = case.prompt_with(json!({})).await?;
    let first = created.timestamp("/data/updatedAt")?;
    for field in ["title", "prompt", "platform"] {
        let before = prompt.read().await?.timestamp("/data/updatedAt")?.max(first);
        // The clock of the target may have whole seconds only, so the update is repeated.
        let what = format!("another updatedAt after updates of {field}");
        case.until(&what, Duration::from_secs(5), || async {
            let reply = prompt.update(json!({ field: case.name("new") })).await?;
            let changed = reply.success()?.timestamp("/data/updatedAt")? > before;
            Ok(changed.then_some(()))
        })
        .await?;
    }
    Ok(())
}
