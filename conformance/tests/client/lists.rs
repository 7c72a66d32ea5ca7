//! The list of prompts as pages and as a stream of the SDK.

use super::{Result, Sdk, check, sdk};
use promptarium::{Cursor, Items, Prompt, PromptType, VaultId};
use promptarium_conformance::{Case, Scenario};
use serde_json::json;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    sdk! { Core "sdk.lists.pages" ["PG-03", "PG-06", "PG-08"] pages,
        "Pages and streams of every size hold what the list holds, once" },
    sdk! { Core "sdk.lists.filters" ["PR-15", "PR-16", "PG-06"] filters,
        "A stream keeps its filters from page to page" },
    sdk! { Core "sdk.lists.resume" ["PG-06", "PG-09"] resume,
        "A list goes on from a cursor that was kept, of the SDK or of the wire" },
];

/// A vault with text prompts; their ids in the order of the list.
async fn stocked(case: &Case, count: usize) -> Result<(VaultId, Vec<i64>)> {
    let vault = case.vault().await?;
    vault.fill(count).await?;
    // Every page, as one may be empty although others follow (S-71).
    let ids = vault.list().limit(100).walk().await?.ids();
    Ok((VaultId::new(vault.id), ids))
}

async fn rest(mut items: Items<Prompt>) -> Result<Vec<i64>> {
    let mut ids = Vec::new();
    while let Some(prompt) = items.next().await {
        ids.push(prompt?.id.get());
    }
    Ok(ids)
}

async fn pages(case: Case) -> Result {
    let (vault, expected) = stocked(&case, 7).await?;
    let list = case.sdk()?.prompts().list().vault(vault);
    check::equal("the stream by default", &rest(list.clone().items()).await?, &expected)?;
    for size in [1, 2, 3, 7, 100] {
        let list = list.clone().page_size(size);
        check::equal(
            &format!("the stream of {size}"),
            &rest(list.clone().items()).await?,
            &expected,
        )?;
        let (mut pages, mut ids) = (list.pages(), Vec::new());
        while let Some(page) = pages.next().await {
            let page = page?;
            check::ensure(page.items.len() <= size as usize, "a page of the size", "a larger one")?;
            ids.extend(page.items.iter().map(|prompt| prompt.id.get()));
        }
        check::equal(&format!("the pages of {size}"), &ids, &expected)?;
        check::equal("the cursor after the last page", &pages.cursor(), &None)?;
    }
    Ok(())
}

async fn filters(case: Case) -> Result {
    let (vault, _) = stocked(&case, 2).await?;
    let mut images = Vec::new();
    for _ in 0..3 {
        let model = case.image_model();
        let fields = json!({ "promptType": "image", "modelId": model, "vaultId": vault.get() });
        images.push(case.prompt_with(fields).await?.0.id);
    }
    let list = case.sdk()?.prompts().list().vault(vault).prompt_type(PromptType::Image);
    let mut found = rest(list.page_size(1).items()).await?;
    found.sort_unstable();
    images.sort_unstable();
    check::equal("the images of the vault", &found, &images)
}

async fn resume(case: Case) -> Result {
    let (vault, expected) = stocked(&case, 5).await?;
    let list =
        |case: &Case| -> Result<_> { Ok(case.sdk()?.prompts().list().vault(vault).page_size(2)) };
    let page = list(&case)?.page().await?;
    let mut ids: Vec<_> = page.items.iter().map(|prompt| prompt.id.get()).collect();
    let kept = page.next_cursor.as_ref().map(ToString::to_string).unwrap_or_default();
    ids.extend(rest(list(&case)?.cursor(kept).items()).await?);
    check::equal("a page and the rest with another client", &ids, &expected)?;

    let first = case.wire().get(&format!("/prompts?vaultId={vault}&limit=2")).await?;
    let mut ids = first.integers("/data", "id")?;
    let cursor = Cursor::from(first.string("/pagination/nextCursor")?);
    ids.extend(rest(list(&case)?.cursor(cursor).items()).await?);
    check::equal("a page of the wire and the rest", &ids, &expected)?;

    for taken in 0..expected.len() {
        let (mut items, mut ids) = (list(&case)?.items(), Vec::new());
        for _ in 0..taken {
            ids.extend(items.next().await.transpose()?.map(|prompt| prompt.id.get()));
        }
        let again = match items.cursor() {
            Some(cursor) => list(&case)?.cursor(cursor.clone()),
            None => list(&case)?,
        };
        // A page that was begun comes again whole.
        let rest = rest(again.items()).await?;
        ids.extend(rest.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
        check::equal(&format!("a stream left after {taken} entries"), &ids, &expected)?;
    }
    Ok(())
}
