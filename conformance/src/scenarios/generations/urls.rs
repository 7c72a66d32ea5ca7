//! Values of the input images that are no URI, and what our server takes for one.

use serde_json::{Value, json};

use super::job::{idle, queue, send};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.urls.image-input" ["GE-15", "GE-25"] image_input,
        "An imageInput that is no URI is refused with 400" },
    core! { "generations.urls.image-inputs" ["GE-16", "GE-25"] image_inputs,
        "imageInputs with an entry that is no URI are refused with 400" },
    core! { "generations.urls.references" ["GE-23", "GE-25"] references,
        "referenceImageUrls with an entry that is no URI are refused with 400" },
    reference! { "generations.urls.any-scheme"
        ["GE-15", "GE-16", "GE-23"] [LocalProvider] any_scheme,
        "A URI may have any scheme and 2048 characters, and entries may repeat (S-11)" },
    reference! { "generations.urls.absolute-only" ["GE-25", "ER-03"] absolute_only,
        "Relative addresses, white space and control characters are refused, naming the field \
         (S-11)" },
    reference! { "generations.urls.entry-named" ["GE-25", "ER-03"] entry_named,
        "The message for a list names the entry, counted from 1 (S-11)" },
];

const GOOD: &str = "https://example.com/a.png";
const NO_URLS: [&str; 3] = ["plainword", "two words", ""];
const LISTS: [&str; 2] = ["imageInputs", "referenceImageUrls"];

async fn image_input(case: Case) -> Result<(), Failure> {
    for url in NO_URLS {
        let reply = send(&case, json!({ "imageInput": url })).await?;
        reply.refused(format!("imageInput {url:?}"))?;
    }
    Ok(())
}

async fn image_inputs(case: Case) -> Result<(), Failure> {
    list(&case, "imageInputs").await
}

async fn references(case: Case) -> Result<(), Failure> {
    list(&case, "referenceImageUrls").await
}

async fn list(case: &Case, field: &str) -> Result<(), Failure> {
    for bad in NO_URLS {
        for urls in [vec![bad], vec![bad, GOOD], vec![GOOD, "https://example.com/b.png", bad]] {
            let reply = send(case, json!({ field: urls })).await?;
            reply.refused(format!("{field} {urls:?}"))?;
        }
    }
    Ok(())
}

async fn any_scheme(case: Case) -> Result<(), Failure> {
    let long = format!("{:a<2048}", "https://example.com/");
    for url in [
        "s3://bucket/key.png",
        "urn:isbn:9780141036144",
        "data:image/png;base64,AAAA",
        "https://例え.example/画像.png",
        &long,
    ] {
        let twice = json!([url, url]);
        let fields =
            json!({ "imageInput": url, "imageInputs": twice, "referenceImageUrls": twice });
        queue(&case, idle(fields)).await?;
    }
    Ok(())
}

async fn absolute_only(case: Case) -> Result<(), Failure> {
    for url in [
        "/a.png",
        "a/b.png",
        "//example.com/a.png",
        "example.com/a.png",
        "#a",
        "https://",
        "https://example.com/a b.png",
        " https://example.com/a.png",
        "https://example.com/a.png\n",
        "https://example.com/\u{a0}a.png",
    ] {
        let reply = send(&case, json!({ "imageInput": url })).await?;
        reply.refused(format!("{url:?}"))?.string("/details/imageInput")?;
        for field in LISTS {
            let reply = send(&case, json!({ field: [GOOD, url] })).await?;
            reply.refused(format!("{url:?}"))?.string(&format!("/details/{field}"))?;
        }
    }
    Ok(())
}

async fn entry_named(case: Case) -> Result<(), Failure> {
    for field in LISTS {
        for at in [1, 4] {
            let mut urls = vec![Value::from(GOOD); 5];
            urls[at - 1] = json!("plainword");
            let reply = send(&case, json!({ field: urls })).await?;
            let message = reply.status(400)?.string(&format!("/details/{field}"))?;
            let expected = format!("a message that names entry {at}");
            reply.ensure(message.contains(&at.to_string()), expected, message)?;
        }
    }
    Ok(())
}
