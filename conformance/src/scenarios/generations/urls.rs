//! Values of the input images that are no URI, and what our server takes for one.

use serde_json::json;

use super::job::{idle, queue};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.urls.any-scheme"
        ["GE-15", "GE-16", "GE-23"] [LocalProvider] any_scheme,
        "A URI may have any scheme and 2048 characters, and entries may repeat (S-11)" },
];

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
