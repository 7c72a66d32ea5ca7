//! The addresses of a prompt: `imageUrl` and `referenceMediaUrls`.

use serde_json::json;

use super::{both_accepted, both_name_field, created_with};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.urls.image" ["PR-28"]
        |case| created_with(case, GOOD.map(|url| json!({ "imageUrl": url }))),
        "A create takes an imageUrl that is a URL" },
    core! { "prompts.urls.references" ["PR-29"]
        |case| created_with(case, SEVERAL.map(|urls| json!({ "referenceMediaUrls": urls }))),
        "A create takes referenceMediaUrls, of several URIs or none" },
    core! { "prompts.urls.references-replaced" ["PR-39"] references_replaced,
        "An update replaces the referenceMediaUrls: ten new ones fit where ten were" },
    reference! { "prompts.urls.any-scheme" ["PR-28", "PR-29"] any_scheme,
        "A URL may have any scheme and 2048 characters, not 2049, and entries may repeat (S-11)" },
];

const GOOD: [&str; 4] = [
    "https://example.com/a.png",
    "http://example.com",
    "https://user@example.com:8443/a%20b.png?size=1&x=%C3%A9#part",
    "https://192.0.2.1/a.webp",
];

const SEVERAL: [&[&str]; 3] = [&GOOD, &["https://example.com/a.png"], &[]];

async fn references_replaced(case: Case) -> Result<(), Failure> {
    let ten = |round: usize| {
        let urls = (0..10).map(|n| format!("https://example.com/{round}/{n}.png"));
        json!({ "referenceMediaUrls": urls.collect::<Vec<_>>() })
    };
    let (prompt, _) = case.prompt_with(ten(0)).await?;
    for round in 1..=3 {
        prompt.update(ten(round)).await?.success()?;
    }
    Ok(())
}

async fn any_scheme(case: Case) -> Result<(), Failure> {
    let of_length = |length| format!("{:a<length$}", "https://example.com/");
    let long = of_length(2048);
    for url in [
        "s3://bucket/key.png",
        "urn:isbn:9780141036144",
        "data:image/png;base64,AAAA",
        "ftp://example.com/a.png",
        "https://例え.example/画像.png",
        &long,
    ] {
        both_accepted(&case, json!({ "imageUrl": url })).await?;
        let fields = json!({ "referenceMediaUrls": [url, url, GOOD[0]] });
        both_accepted(&case, fields).await?;
    }
    let url = of_length(2049);
    both_name_field(&case, "imageUrl", json!({ "imageUrl": url })).await?;
    let fields = json!({ "referenceMediaUrls": [url] });
    both_name_field(&case, "referenceMediaUrls", fields).await
}
