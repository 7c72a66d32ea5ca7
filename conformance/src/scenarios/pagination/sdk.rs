//! The SDK's list of prompts, page by page and as a stream, held against the
//! wire.

use promptarium::{Cursor, Items, Prompt, PromptType, VaultId};
use serde_json::json;

use super::walk::{in_vault, own, page, put, stocked, walk};
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "pagination.pages.sdk-page" ["PG-03", "PG-06", "PG-09"] one_page,
        "A page of the SDK is the page on the wire, and its cursor goes on there" },
    core! { "pagination.pages.sdk-pages" ["PG-06", "PG-08"] pages,
        "The pages of the SDK hold what those on the wire hold, whatever their size" },
    core! { "pagination.pages.sdk-stream" ["PG-06", "PG-08"] stream,
        "The stream of the SDK holds each entry once, whatever the size of a page" },
    core! { "pagination.pages.sdk-filters" ["PG-06", "PR-15", "PR-16"] filters,
        "The stream of the SDK keeps its filters from page to page" },
    core! { "pagination.cursors.sdk-resume" ["PG-06", "PG-09"] resume,
        "Another client of the SDK goes on from a cursor that was kept as text" },
    core! { "pagination.cursors.sdk-resume-stream" ["PG-06", "PG-09"] resume_stream,
        "A stream of the SDK that was left goes on without missing an entry" },
    core! { "pagination.cursors.sdk-from-wire" ["PG-06", "PG-09"] from_wire,
        "The SDK goes on from a cursor of the wire" },
    core! { "pagination.limit.sdk-refused" ["LI-01"] refused,
        "A stream of the SDK with a limit out of range gives the refusal and ends" },
];

fn ids(prompts: &[Prompt]) -> Vec<i64> {
    prompts.iter().map(|prompt| prompt.id.get()).collect()
}

/// Those of `prompts` that a stream still gives.
async fn rest(mut stream: Items<Prompt>, prompts: &[i64]) -> Result<Vec<i64>, Failure> {
    let mut ids = Vec::new();
    while let Some(prompt) = stream.next().await {
        ids.push(prompt?.id.get());
    }
    ids.retain(|id| prompts.contains(id));
    Ok(ids)
}

/// These prompts of a vault in the order of the list.
async fn listed(case: &Case, vault: i64, prompts: &[i64]) -> Result<Vec<i64>, Failure> {
    Ok(own(&walk(&case.wire(), &in_vault(vault), Some(100)).await?, prompts))
}

async fn one_page(case: Case) -> Result<(), Failure> {
    let (vault, _) = stocked(&case, &case.wire(), 5).await?;
    let list = case.sdk()?.prompts().list().vault(VaultId::new(vault));
    let got = list.page_size(2).page().await?;
    let first = page(&case.wire(), &in_vault(vault), Some(2), None).await?;
    check::equal("the first page", &ids(&got.items), &first.ids)?;
    let cursor = got.next_cursor.as_ref().map(Cursor::as_str);
    let by_sdk = page(&case.wire(), &in_vault(vault), Some(2), cursor).await?;
    let by_wire = page(&case.wire(), &in_vault(vault), Some(2), first.next.as_deref()).await?;
    check::equal("the page after", &by_sdk.ids, &by_wire.ids)
}

async fn pages(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 7).await?;
    let expected = listed(&case, vault, &prompts).await?;
    for size in [1, 2, 3, 7, 100] {
        let list = case.sdk()?.prompts().list().vault(VaultId::new(vault));
        let mut pages = list.page_size(size).pages();
        let mut got = Vec::new();
        while let Some(page) = pages.next().await {
            got.extend(ids(&page?.items));
        }
        got.retain(|id| prompts.contains(id));
        check::equal(&format!("the pages of {size}"), &got, &expected)?;
        check::equal("the cursor after the last page", &pages.cursor(), &None)?;
    }
    Ok(())
}

async fn stream(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 7).await?;
    let expected = listed(&case, vault, &prompts).await?;
    for size in [Some(1), Some(2), Some(3), Some(7), Some(100), None] {
        let mut list = case.sdk()?.prompts().list().vault(VaultId::new(vault));
        if let Some(size) = size {
            list = list.page_size(size);
        }
        let got = rest(list.items(), &prompts).await?;
        check::equal(&format!("the stream in pages of {size:?}"), &got, &expected)?;
    }
    Ok(())
}

async fn filters(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let (vault, texts) = stocked(&case, &wire, 2).await?;
    let mut images = Vec::new();
    for _ in 0..3 {
        let fields = json!({ "promptType": "image", "modelId": case.image_model() });
        let made = make::prompt_with(&case, &wire, fields).await?;
        images.push(made.integer("/data/id")?);
    }
    put(&wire, vault, &images).await?;
    let list = case.sdk()?.prompts().list().vault(VaultId::new(vault));
    let stream = list.prompt_type(PromptType::Image).page_size(1).items();
    let mut got = rest(stream, &[texts, images.clone()].concat()).await?;
    got.sort_unstable();
    images.sort_unstable();
    check::equal("the images of the vault", &got, &images)
}

async fn resume(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 5).await?;
    let expected = listed(&case, vault, &prompts).await?;
    let list = |case: &Case| -> Result<_, Failure> {
        Ok(case.sdk()?.prompts().list().vault(VaultId::new(vault)).page_size(2))
    };
    let mut pages = list(&case)?.pages();
    let Some(first) = pages.next().await else {
        return Err(Failure::failed("a first page", "none"));
    };
    let mut got = ids(&first?.items);
    if let Some(kept) = pages.cursor().map(ToString::to_string) {
        got.extend(rest(list(&case)?.cursor(kept).items(), &prompts).await?);
    }
    got.retain(|id| prompts.contains(id));
    check::equal("the pages of both clients together", &got, &expected)
}

async fn resume_stream(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 5).await?;
    let expected = listed(&case, vault, &prompts).await?;
    for taken in 0..expected.len() {
        let list = case.sdk()?.prompts().list().vault(VaultId::new(vault)).page_size(2);
        let mut stream = list.clone().items();
        let mut got = Vec::new();
        for _ in 0..taken {
            let Some(prompt) = stream.next().await else { break };
            got.push(prompt?.id.get());
        }
        got.retain(|id| prompts.contains(id));
        let again = match stream.cursor() {
            Some(cursor) => list.cursor(cursor.clone()).items(),
            None => list.items(),
        };
        // A page that was begun comes again whole.
        for id in rest(again, &prompts).await? {
            if !got.contains(&id) {
                got.push(id);
            }
        }
        check::equal(&format!("a stream left after {taken} entries"), &got, &expected)?;
    }
    Ok(())
}

async fn from_wire(case: Case) -> Result<(), Failure> {
    let (vault, prompts) = stocked(&case, &case.wire(), 5).await?;
    let first = page(&case.wire(), &in_vault(vault), Some(2), None).await?;
    let list = case.sdk()?.prompts().list().vault(VaultId::new(vault)).page_size(2);
    let mut got = first.ids;
    if let Some(cursor) = first.next {
        got.extend(rest(list.cursor(cursor).items(), &prompts).await?);
    }
    got.retain(|id| prompts.contains(id));
    check::equal("both together", &got, &listed(&case, vault, &prompts).await?)
}

async fn refused(case: Case) -> Result<(), Failure> {
    for size in [0, 101] {
        let mut stream = case.sdk()?.prompts().list().page_size(size).items();
        match stream.next().await {
            Some(Err(error)) if error.is_invalid() => {}
            other => return Err(Failure::failed("is_invalid", format!("{other:?}"))),
        }
        let ended = stream.next().await.is_none();
        check::ensure(ended, "the end of the stream after its error", "something more")?;
    }
    Ok(())
}
