//! What a text may hold and how it is kept, where the specification says no
//! more than "string": our server keeps every scalar value but U+0000 (S-66),
//! and takes any platform of at most 200 characters (S-09).

use serde_json::{Value, json};

use super::{both_accepted, both_name_field};
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "prompts.text.untouched" ["PR-02", "PR-04"] untouched,
        "Texts are neither trimmed nor normalised, and control characters stay (S-66)" },
    reference! { "prompts.text.blank" ["LI-02", "LI-03"] blank,
        "A title and a prompt of one space are accepted (S-66)" },
    reference! { "prompts.text.any-platform" ["PR-04", "PR-23", "PR-33"] any_platform,
        "Any text of at most 200 characters is a platform, the empty one too (S-09)" },
    reference! { "prompts.text.platform-cleared" ["PR-04", "PR-33"] platform_cleared,
        "An update with platform null clears the platform (S-09)" },
];

async fn untouched(case: Case) -> Result<(), Failure> {
    for text in [
        "  spaces around\t",
        "\r\nline\nbreaks\u{2028}",
        "e\u{301} is not é",
        "\u{fb01} \u{212b} \u{1e9b}\u{323}",
        "\u{1}\u{7f}\u{9f}\u{fffe}\u{e000}",
        "\u{202e}right to left\u{feff}",
        "👩\u{200d}👧 \u{10ffff}",
    ] {
        let fields = json!({ "title": text, "prompt": text, "platform": text });
        for reply in both_accepted(&case, fields).await? {
            let read = case.prompt_of(&reply)?.get().await?;
            for reply in [reply, read] {
                reply.equals("/data/title", text)?;
                reply.equals("/data/prompt", text)?.equals("/data/platform", text)?;
            }
        }
    }
    Ok(())
}

async fn blank(case: Case) -> Result<(), Failure> {
    for field in ["title", "prompt"] {
        both_accepted(&case, json!({ field: " " })).await?;
    }
    Ok(())
}

async fn any_platform(case: Case) -> Result<(), Failure> {
    for platform in ["", " ", "漢字 😀", &"😀".repeat(200)] {
        for reply in both_accepted(&case, json!({ "platform": platform })).await? {
            reply.equals("/data/platform", platform)?;
        }
    }
    both_name_field(&case, "platform", json!({ "platform": "p".repeat(201) })).await
}

async fn platform_cleared(case: Case) -> Result<(), Failure> {
    let (prompt, _) = case.prompt_with(json!({ "platform": "poster" })).await?;
    for _ in 0..2 {
        let reply = prompt.update(json!({ "platform": null })).await?;
        reply.success()?.equals("/data/platform", Value::Null)?;
    }
    prompt.get().await?.equals("/data/platform", Value::Null).map(drop)
}
