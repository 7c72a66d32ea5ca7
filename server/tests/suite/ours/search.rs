//! The search in `GET /prompts` by the parameter `q` (S-84).

use crate::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "prompts.search.every-word" ["S-84"] every_word,
        "A search finds prompts with each word in title, text or platform, also within a word" },
    scenario! { "prompts.search.spellings" ["S-84"] spellings,
        "Case, accents and the Unicode form of a text do not count in a search, in any script" },
    scenario! { "prompts.search.phrases" ["S-84"] phrases,
        "Words between quotation marks are found in this order only" },
    scenario! { "prompts.search.now" ["S-84"] now,
        "A search finds a prompt as it is now, at once after an update, and not after its delete" },
    scenario! { "prompts.search.own" ["S-84"] [OtherAccount] own,
        "A search finds prompts of the caller only" },
    scenario! { "prompts.search.filters" ["S-84", "S-57"] filters,
        "vaultId and type narrow a search, and a vaultId of no vault is 400 naming it" },
    scenario! { "pagination.search.pages" ["S-84", "S-02"] pages,
        "The pages of a search have each prompt once, newest first; a cursor is good for its q only" },
    scenario! { reads "prompts.search.refused" ["S-84", "S-03"] refused,
        "A q of spaces, of 201 characters, that is empty or repeated is 400 naming it" },
];

async fn put(case: &Case, vault: &Vault, fields: Value) -> Result<Prompt> {
    let fields = merged(json!({ "vaultId": vault.id }), fields);
    Ok(case.prompt_with(fields).await?.0)
}

/// Searches the vault for a text: it finds these, newest first.
async fn finds(vault: &Vault, text: &str, expected: &[&Prompt]) -> Result {
    let page = vault.list().with("q", text).page().await?;
    let what = format!("the prompts found by {}", json_text(&text));
    check::equal(&what, &page.ids, &ids(expected.iter().copied()))?;
    check::equal("the next cursor", &page.next, &None)
}

async fn every_word(case: Case) -> Result {
    let vault = case.vault().await?;
    let harbour =
        put(&case, &vault, json!({ "title": "Harbour/dawn", "platform": "Canvas" })).await?;
    let gull = put(&case, &vault, json!({ "title": "A gull over the harbour" })).await?;
    for (text, expected) in [
        ("harbour", &[&gull, &harbour][..]),
        ("arbo", &[&gull, &harbour]),
        ("gull harbour", &[&gull]),
        ("harbour, gull!", &[&gull]),
        ("lighthouse canvas dawn", &[&harbour]),
        ("dusk", &[&gull, &harbour]),
        ("gull canvas", &[]),
        ("absent", &[]),
    ] {
        finds(&vault, text, expected).await?;
    }
    Ok(())
}

async fn spellings(case: Case) -> Result {
    let vault = case.vault().await?;
    for (title, texts) in [
        ("Crème brûlée", &["creme brulee", "CRÈME", "Cre\u{300}me"][..]),
        ("Straße", &["strasse", "STRASSE"]),
        ("Vie\u{323}\u{302}t", &["việt", "viet"]),
        ("İzmir", &["izmir", "IZMIR"]),
        ("Ελληνικά", &["ελληνικα"]),
        ("Україна", &["УКРАЇНА"]),
        ("हिन्दी", &["हिन्दी"]),
        ("ภาษาไทย", &["ไทย"]),
        ("မြန်မာ", &["မြန်မာ"]),
        ("ខ្មែរ", &["ខ្មែរ"]),
        ("日本語の文法", &["文法", "語"]),
        ("ｶﾞｷﾞ", &["ガギ"]),
        ("🐙", &["🐙"]),
    ] {
        let prompt = put(&case, &vault, json!({ "title": title })).await?;
        for text in texts.iter().chain([&title]) {
            finds(&vault, text, &[&prompt]).await?;
        }
    }
    Ok(())
}

async fn phrases(case: Case) -> Result {
    let vault = case.vault().await?;
    let in_order = put(&case, &vault, json!({ "title": "Two\n Words" })).await?;
    let turned = put(&case, &vault, json!({ "title": "words, two" })).await?;
    finds(&vault, "two words", &[&turned, &in_order]).await?;
    finds(&vault, "\"two words\"", &[&in_order]).await?;
    finds(&vault, "\"words, two\"", &[&turned]).await?;
    finds(&vault, "lighthouse \"two words\"", &[&in_order]).await
}

async fn now(case: Case) -> Result {
    let vault = case.vault().await?;
    let prompt = put(&case, &vault, json!({ "title": "Gull" })).await?;
    finds(&vault, "gull", &[&prompt]).await?;
    prompt.update(json!({ "title": "Octopus" })).await?.success()?;
    finds(&vault, "gull", &[]).await?;
    finds(&vault, "octopus", &[&prompt]).await?;
    prompt.delete().await?.status(200)?;
    finds(&vault, "octopus", &[]).await
}

async fn own(case: Case) -> Result {
    let name = case.name("gull");
    case.other_account().prompt_with(json!({ "title": name })).await?;
    let (prompt, _) = case.prompt_with(json!({ "title": name })).await?;
    let walk = case.list().with("q", &format!("\"{name}\"")).walk().await?;
    let found = walk.pages.iter().flat_map(|page| page.ids.clone()).collect::<Vec<_>>();
    check::equal("the prompts of both accounts that are found", &found, &vec![prompt.id])
}

async fn filters(case: Case) -> Result {
    let [vault, other] = case.vaults().await?;
    let image = json!({ "title": "Gull", "promptType": "image", "modelId": case.image_model() });
    let image = put(&case, &vault, image).await?;
    let text = put(&case, &vault, json!({ "title": "Gull" })).await?;
    let elsewhere = put(&case, &other, json!({ "title": "Gull" })).await?;
    finds(&vault, "gull", &[&text, &image]).await?;
    finds(&other, "gull", &[&elsewhere]).await?;
    let gulls = |vault: &Vault| vault.list().with("q", "gull");
    for (kind, expected) in [("image", vec![image.id]), ("text", vec![text.id]), ("video", vec![])]
    {
        let page = gulls(&vault).with("type", kind).page().await?;
        check::equal(&format!("the gulls of the type {kind}"), &page.ids, &expected)?;
    }
    other.delete().await?.status(200)?;
    gulls(&other).get().await?.is_bad_request_naming("vaultId", "a deleted vault").map(drop)
}

async fn pages(case: Case) -> Result {
    let vault = case.vault().await?;
    let mut gulls = Vec::new();
    for number in 0..7 {
        let title = if number == 3 { "Owl" } else { "Gull" };
        let prompt = put(&case, &vault, json!({ "title": title })).await?;
        gulls.extend((number != 3).then_some(prompt));
    }
    let list = |text: &str| vault.list().with("q", text).limit(2);
    list("gull").walk().await?.expect_in_order(gulls.iter().rev())?;
    let first = list("gull").page().await?;
    for other in [list("gul"), list("Gull"), list("gull").with("type", "text"), vault.list()] {
        let reply = other.after(&first).get().await?;
        reply.is_bad_request_naming("cursor", "a cursor of another search")?;
    }
    let plain = vault.list().limit(2).page().await?;
    let reply = list("gull").after(&plain).get().await?;
    reply.is_bad_request_naming("cursor", "a cursor of a list").map(drop)
}

async fn refused(case: Case) -> Result {
    for text in [" ", "\u{3000}", "\u{200b}", "a\0", &"a".repeat(201), ""] {
        let reply = case.list().with("q", text).get().await?;
        reply.is_bad_request_naming("q", format!("the q {}", json_text(&text)))?;
    }
    let twice = case.list().with("q", "a").with("q", "a").get().await?;
    twice.is_bad_request_naming("q", "two of them")?;
    case.list().limit(1).with("q", &"é".repeat(200)).page().await.map(drop)
}
