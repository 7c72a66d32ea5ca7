//! What a character is and what becomes of it (S-66), held against every text
//! field that has a length.

use serde_json::{Value, json};

use crate::scenario::reference;
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "envelope.text.kept" ["PR-02", "VA-02"] kept,
        "Text is stored as it was sent: nothing is trimmed or normalised (S-66)" },
    reference! { "envelope.text.half-surrogate" ["EN-02"] half_surrogate,
        "Half a surrogate pair makes a body invalid JSON (S-66)" },
    reference! { "envelope.text.empty" ["LI-04", "LI-07"] empty,
        "Where only a maximum is stated the empty string is accepted (S-66)" },
];

/// A field of prompts or vaults, and its greatest length where it has one.
struct Text {
    path: &'static str,
    name: &'static str,
    most: usize,
    shown: bool,
}

const fn text(path: &'static str, name: &'static str, most: usize, shown: bool) -> Text {
    Text { path, name, most, shown }
}

const TEXTS: &[Text] = &[
    text("/prompts", "title", 120, true),
    text("/prompts", "prompt", 15000, true),
    text("/prompts", "aspectRatio", 20, false),
    text("/vaults", "name", 50, true),
    text("/vaults", "description", 200, true),
];

impl Text {
    async fn create(&self, case: &Case, wire: &Wire, value: &str) -> Result<Reply, Failure> {
        let mut body = match self.path {
            "/prompts" => json!({ "title": case.name("prompt"), "prompt": "A lighthouse" }),
            _ => json!({ "name": case.name("vault") }),
        };
        body[self.name] = value.into();
        wire.post(self.path, body).await
    }
}

async fn kept(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for field in TEXTS.iter().filter(|field| field.shown) {
        for value in [
            " ",
            "  two spaces around  ",
            "\ttab and\r\nline break\n",
            "e\u{301} beside \u{e9}",
            "\u{1f469}\u{200d}\u{1f680}",
            "\u{feff}\u{202e}\u{a0}\u{2028}",
            "\u{10ffff}\u{1}\u{7f}",
            "<b>&amp;</b> \"\\u0041' %00 ${x} -- ;",
        ] {
            let made = field.create(&case, &wire, value).await?;
            let check = |reply: &Reply, status| {
                let shown = reply.status(status)?.equals(&format!("/data/{}", field.name), value);
                check::with_context(format!("{} {value:?}", field.name), shown).map(drop)
            };
            check(&made, 201)?;
            let id = made.integer("/data/id")?;
            check(&wire.get(&format!("{}/{id}", field.path)).await?, 200)?;
        }
    }
    Ok(())
}

async fn half_surrogate(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let prompt = make::prompt(&case, &wire).await?;
    for escape in [r"\ud83d", r"\ude00", r"\ude00\ud83d", r"\ud83dx"] {
        let call = wire.call(http::Method::PATCH, &format!("/prompts/{prompt}"));
        let body = format!(r#"{{"title":"{escape}"}}"#);
        let reply = call.body("application/json", body).send().await?;
        check::with_context(escape, reply.status(400)?.at("/details/body"))?;
    }
    Ok(())
}

async fn empty(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for field in TEXTS.iter().filter(|field| matches!(field.most, 20 | 200)) {
        let reply = field.create(&case, &wire, "").await?;
        check::with_context(field.name, reply.status(201))?;
        if field.shown {
            let shown: Value = "".into();
            reply.equals(&format!("/data/{}", field.name), shown)?;
        }
    }
    Ok(())
}
