//! Limits of text where counting goes wrong most easily: escapes, letters of several
//! widths in one text, all fields at their limit at once. The plain two sides of each
//! limit are in the chapter of its field.

use http::Method;
use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "limits.escaped.texts" ["LI-02", "LI-03", "LI-04", "LI-06", "LI-07"] escaped_texts,
        "An escaped letter is one character: limits count what is meant, not what is sent" },
    core! { "limits.mixed.texts" ["LI-02", "LI-03", "LI-04", "LI-06", "LI-07"] mixed_texts,
        "Letters of one, two and three bytes in one text count one each" },
    core! { "limits.mixed.update" ["LI-02", "LI-03", "LI-06", "LI-07"] mixed_update,
        "The same holds in an update, which changes nothing if a text is too long by one" },
    core! { "limits.whole.prompt" ["LI-02", "LI-03", "LI-04", "LI-05"] whole_prompt,
        "A prompt with every field at its limit is created and shown whole" },
    core! { "limits.whole.vault" ["LI-06", "LI-07"] whole_vault,
        "A vault with name and description at their limits is created and shown whole" },
    core! { "limits.escaped.generation" ["LI-09", "LI-10"] escaped_generation,
        "Both texts of a generation at their limit, all letters escaped, are queued" },
    reference! { "limits.limit.every-filter" ["LI-01"] every_filter,
        "The bounds of limit hold beside a vault, a type and a cursor" },
    reference! { "limits.odd.texts" ["LI-02", "LI-03", "LI-04", "LI-06", "LI-07"] odd_texts,
        "Emoji, the last code point and combining marks count one each, on create and on update \
         (S-66)" },
];

/// A text with a limit.
#[derive(Clone, Copy)]
struct Text {
    list: &'static str,
    field: &'static str,
    most: usize,
}

const TEXTS: [Text; 4] = [
    Text { list: "/prompts", field: "title", most: 120 },
    Text { list: "/prompts", field: "prompt", most: 15_000 },
    Text { list: "/vaults", field: "name", most: 50 },
    Text { list: "/vaults", field: "description", most: 200 },
];

/// A service may take ratios only, so just scenarios of the reference profile send other texts.
const ASPECT_RATIO: Text = Text { list: "/prompts", field: "aspectRatio", most: 20 };

impl Text {
    /// A text of so many characters that no other is equal to, as names may have to
    /// differ (S-17); `letters` are gone through again and again.
    fn value(self, case: &Case, letters: &str, count: usize) -> String {
        // The shortest field has no room for a name, and need not differ.
        let start = if self.most < 50 { String::new() } else { case.name("limit") };
        let rest = count - start.chars().count();
        start + &letters.chars().cycle().take(rest).collect::<String>()
    }

    /// A body that creates something with this text in it.
    fn body(self, case: &Case, value: &str) -> Value {
        let mut body = match self.list {
            "/prompts" => json!({ "title": case.name("prompt"), "prompt": "A lighthouse" }),
            _ => json!({ "name": case.name("vault") }),
        };
        body[self.field] = value.into();
        body
    }

    async fn create(self, case: &Case, value: &str) -> Result<Reply, Failure> {
        case.wire().post(self.list, self.body(case, value)).await
    }

    async fn made(self, case: &Case, wire: &Wire) -> Result<String, Failure> {
        let id = match self.list {
            "/prompts" => make::prompt(case, wire).await?,
            _ => make::vault(case, wire).await?,
        };
        Ok(format!("{}/{id}", self.list))
    }

    fn about(self, count: usize) -> String {
        format!("{} of {count} characters", self.field)
    }
}

/// Widths of one, two and three bytes; each is one UTF-16 unit and one grapheme.
const MIXED: &str = "aé漢";

async fn escaped_texts(case: Case) -> Result<(), Failure> {
    for text in TEXTS {
        for (count, status) in [(text.most, 201), (text.most + 1, 400)] {
            let value = text.value(&case, "漢é", count);
            let body = in_escapes(&text.body(&case, &value));
            let call = case.wire().call(Method::POST, text.list);
            let reply = call.body("application/json", body).send().await?;
            reply.accepted(status, text.about(count))?;
            if status == 201 {
                reply.equals(&format!("/data/{}", text.field), value)?;
            }
        }
    }
    Ok(())
}

/// JSON in ASCII.
fn in_escapes(value: &Value) -> String {
    let mut ascii = String::new();
    for letter in value.to_string().chars() {
        match letter {
            ' '..='~' => ascii.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    ascii.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    ascii
}

async fn mixed_texts(case: Case) -> Result<(), Failure> {
    for text in TEXTS {
        for (count, status) in [(text.most, 201), (text.most + 1, 400)] {
            let value = text.value(&case, MIXED, count);
            text.create(&case, &value).await?.accepted(status, text.about(count))?;
        }
    }
    Ok(())
}

async fn mixed_update(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for text in TEXTS {
        let path = text.made(&case, &wire).await?;
        let place = format!("/data/{}", text.field);
        let longest = text.value(&case, MIXED, text.most);
        let body = json!({ (text.field): longest });
        wire.patch(&path, body).await?.accepted(200, text.about(text.most))?;
        let longer = text.value(&case, MIXED, text.most + 1);
        let body = json!({ (text.field): longer });
        wire.patch(&path, body).await?.refused(text.about(text.most + 1))?;
        wire.get(&path).await?.status(200)?.equals(&place, longest)?;
    }
    Ok(())
}

async fn whole_prompt(case: Case) -> Result<(), Failure> {
    let value = |at: usize, count: usize| TEXTS[at].value(&case, MIXED, count);
    let (title, prompt) = (value(0, 120), value(1, 15_000));
    let urls: Vec<_> = (0..10).map(|n| format!("https://images.example/{n}.png")).collect();
    let body = json!({
        "title": title,
        "prompt": prompt,
        "aspectRatio": "100000000:1000000000",
        "referenceMediaUrls": urls,
        "imageUrl": "https://images.example/a.png",
        "promptType": "image",
        "modelId": case.image_model(),
    });
    let made = case.wire().post("/prompts", body).await?;
    let id = made.accepted(201, "every field at its limit")?.integer("/data/id")?;
    let shown = case.wire().get(&format!("/prompts/{id}")).await?;
    shown.status(200)?.equals("/data/title", title)?.equals("/data/prompt", prompt).map(drop)
}

async fn whole_vault(case: Case) -> Result<(), Failure> {
    let (name, description) = (TEXTS[2].value(&case, MIXED, 50), TEXTS[3].value(&case, MIXED, 200));
    let body = json!({ "name": name, "description": description });
    let made = case.wire().post("/vaults", body).await?;
    let id = made.accepted(201, "both fields at their limit")?.integer("/data/id")?;
    let shown = case.wire().get(&format!("/vaults/{id}")).await?;
    shown.status(200)?.equals("/data/name", name)?;
    shown.equals("/data/description", description).map(drop)
}

async fn escaped_generation(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let name = case.name("long");
    let text = name.clone() + &"漢".repeat(100_000 - name.chars().count());
    let body = json!({
        "modelId": case.image_model(),
        "prompt": text,
        "negativePrompt": text,
        "vaultId": vault,
    });
    let call = case.wire().call(Method::POST, "/generations");
    let reply = call.body("application/json", in_escapes(&body)).send().await?;
    reply.accepted(202, "two texts of 100000 escaped letters").map(drop)
}

async fn every_filter(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    make::members(&case, &wire, vault, 2).await?;
    let first = wire.get(&format!("/prompts?limit=1&vaultId={vault}")).await?;
    let cursor = first.status(200)?.at("/pagination/nextCursor")?.as_str().unwrap_or_default();
    let cursor: String = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
    let mut filters = vec![format!("vaultId={vault}"), "type=text".into(), "type=video".into()];
    if !cursor.is_empty() {
        filters.push(format!("vaultId={vault}&cursor={cursor}"));
    }
    for filter in filters {
        for (limit, status) in [(1, 200), (100, 200), (0, 400), (101, 400), (-1, 400)] {
            let reply = wire.get(&format!("/prompts?limit={limit}&{filter}")).await?;
            reply.accepted(status, format!("limit {limit} beside {filter}"))?;
        }
    }
    Ok(())
}

async fn odd_texts(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for text in TEXTS.into_iter().chain([ASPECT_RATIO]) {
        let path = text.made(&case, &wire).await?;
        for letters in ["😀", "\u{10ffff}", "e\u{301}", "a\u{200d}😀漢é"] {
            for (count, right) in [(text.most, true), (text.most + 1, false)] {
                let value = text.value(&case, letters, count);
                let what = format!("{} with {letters:?}", text.about(count));
                let created = text.create(&case, &value).await?;
                created.accepted(if right { 201 } else { 400 }, &what)?;
                let updated = wire.patch(&path, json!({ (text.field): value })).await?;
                check::about("update", updated.accepted(if right { 200 } else { 400 }, &what))?;
            }
        }
    }
    Ok(())
}
