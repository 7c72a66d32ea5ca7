//! How long the texts and the list of a prompt may be, on both sides of each
//! limit. The specification counts characters; core scenarios use letters that
//! count as one however characters are counted, though not in bytes, and
//! reference scenarios show that ours counts Unicode scalar values (S-66).

use serde_json::json;

use super::attempt::{On, attempt, both};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.lengths.title-on-create" ["LI-02"] title_on_create,
        "A create takes a title of 1 to 120 characters and no other" },
    core! { "prompts.lengths.title-on-update" ["LI-02"] title_on_update,
        "An update takes a title of 1 to 120 characters and no other" },
    core! { "prompts.lengths.prompt-on-create" ["LI-03"] prompt_on_create,
        "A create takes a prompt of 1 to 15000 characters and no other" },
    core! { "prompts.lengths.prompt-on-update" ["LI-03"] prompt_on_update,
        "An update takes a prompt of 1 to 15000 characters and no other" },
    core! { "prompts.lengths.aspect-ratio-on-create" ["LI-04"] aspect_ratio_on_create,
        "A create takes an aspectRatio of 20 characters and none of 21" },
    core! { "prompts.lengths.aspect-ratio-on-update" ["LI-04"] aspect_ratio_on_update,
        "An update takes an aspectRatio of 20 characters and none of 21" },
    core! { "prompts.lengths.references-on-create" ["LI-05"] references_on_create,
        "A create takes 10 referenceMediaUrls and refuses 11" },
    core! { "prompts.lengths.references-on-update" ["LI-05"] references_on_update,
        "An update takes 10 referenceMediaUrls and refuses 11" },
    reference! { "prompts.lengths.beyond-ascii" ["LI-02", "LI-03", "LI-04"] beyond_ascii,
        "An emoji and the last code point count as one, and so does what cannot be seen (S-66)" },
    reference! { "prompts.lengths.combined" ["LI-02", "LI-04"] combined,
        "A letter with a combining mark counts as two, an emoji sequence as its parts (S-66)" },
    reference! { "prompts.lengths.named" ["LI-02", "LI-03", "LI-04", "LI-05", "ER-03"] named,
        "A field that is too long or too short is named in details" },
];

/// Letters of one, two and three bytes, each one UTF-16 unit and one grapheme.
const LETTERS: [&str; 3] = ["a", "é", "漢"];

const TITLE: Limit = Limit { field: "title", least: 1, most: 120 };
const PROMPT: Limit = Limit { field: "prompt", least: 1, most: 15_000 };
const ASPECT_RATIO: Limit = Limit { field: "aspectRatio", least: 0, most: 20 };

struct Limit {
    field: &'static str,
    least: usize,
    most: usize,
}

impl Limit {
    /// Holds for texts of each of the [`LETTERS`].
    async fn hold_for_letters(&self, case: &Case, on: On) -> Result<(), Failure> {
        for letter in LETTERS {
            self.hold(case, on, letter).await?;
        }
        Ok(())
    }

    /// Tries what is just within the limit and what is just beyond it, with texts
    /// of the repeated `letter`.
    async fn hold(&self, case: &Case, on: On, letter: &str) -> Result<(), Failure> {
        let Self { field, least, most } = *self;
        let text = |count: usize| json!({ field: letter.repeat(count) });
        attempt(case, on, text(least.max(1))).await?.accepted()?;
        attempt(case, on, text(most)).await?.accepted()?;
        if least > 0 {
            attempt(case, on, text(least - 1)).await?.refused()?;
        }
        attempt(case, on, text(most + 1)).await?.refused()?;
        Ok(())
    }
}

async fn update(case: &Case) -> Result<On, Failure> {
    Ok(On::Update(make::prompt(case, &case.wire()).await?))
}

async fn title_on_create(case: Case) -> Result<(), Failure> {
    TITLE.hold_for_letters(&case, On::Create).await
}

async fn title_on_update(case: Case) -> Result<(), Failure> {
    TITLE.hold_for_letters(&case, update(&case).await?).await
}

async fn prompt_on_create(case: Case) -> Result<(), Failure> {
    PROMPT.hold_for_letters(&case, On::Create).await
}

async fn prompt_on_update(case: Case) -> Result<(), Failure> {
    PROMPT.hold_for_letters(&case, update(&case).await?).await
}

async fn aspect_ratio_on_create(case: Case) -> Result<(), Failure> {
    aspect_ratio(&case, On::Create).await
}

async fn aspect_ratio_on_update(case: Case) -> Result<(), Failure> {
    aspect_ratio(&case, update(&case).await?).await
}

/// A service may take ratios only (S-66), so these are some.
async fn aspect_ratio(case: &Case, on: On) -> Result<(), Failure> {
    for ratio in ["1:1", "100000000:1000000000"] {
        attempt(case, on, json!({ "aspectRatio": ratio })).await?.accepted()?;
    }
    attempt(case, on, json!({ "aspectRatio": "1000000000:1000000000" })).await?.refused()?;
    Ok(())
}

async fn references_on_create(case: Case) -> Result<(), Failure> {
    references(&case, On::Create).await
}

async fn references_on_update(case: Case) -> Result<(), Failure> {
    references(&case, update(&case).await?).await
}

async fn references(case: &Case, on: On) -> Result<(), Failure> {
    attempt(case, on, json!({ "referenceMediaUrls": urls(10) })).await?.accepted()?;
    attempt(case, on, json!({ "referenceMediaUrls": urls(11) })).await?.refused()?;
    Ok(())
}

fn urls(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("https://example.com/{n}.png")).collect()
}

async fn beyond_ascii(case: Case) -> Result<(), Failure> {
    for on in both(&case).await? {
        for letter in ["😀", "\u{feff}", "\u{10ffff}"] {
            for limit in [TITLE, PROMPT, ASPECT_RATIO] {
                limit.hold(&case, on, letter).await?;
            }
        }
    }
    Ok(())
}

async fn combined(case: Case) -> Result<(), Failure> {
    for on in both(&case).await? {
        for limit in [TITLE, ASPECT_RATIO] {
            // An e with a combining acute accent, and a family of five code points.
            for (sequence, parts) in [("e\u{301}", 2), ("👩\u{200d}👧\u{200d}👦", 5)] {
                let whole = sequence.repeat(limit.most / parts);
                let field = limit.field;
                attempt(&case, on, json!({ field: whole })).await?.accepted()?;
                let longer = format!("{whole}e");
                attempt(&case, on, json!({ field: longer })).await?.names(field)?;
            }
        }
    }
    Ok(())
}

async fn named(case: Case) -> Result<(), Failure> {
    for on in both(&case).await? {
        for Limit { field, least, most } in [TITLE, PROMPT, ASPECT_RATIO] {
            attempt(&case, on, json!({ field: "a".repeat(most + 1) })).await?.names(field)?;
            if least > 0 {
                attempt(&case, on, json!({ field: "" })).await?.names(field)?;
            }
        }
        let tried = attempt(&case, on, json!({ "referenceMediaUrls": urls(11) })).await?;
        tried.names("referenceMediaUrls")?;
    }
    Ok(())
}
