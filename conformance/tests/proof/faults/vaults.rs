//! Faults in vaults (VA, LI-06, LI-07): the fields that come in and their limits.

pub(super) mod copies;
pub(super) mod counts;
pub(super) mod deletion;
pub(super) mod forks;
pub(super) mod list;
pub(super) mod object;
pub(super) mod values;

use http::Method;
use serde_json::{Value, json};

use crate::ask::{Answer, Ask};
use crate::entries::without;
use crate::fault::{Fault, How, fault};
use crate::front::{answers, asks, instead, whole};

/// Where a vault's fields come in.
const WRITES: &str = "POST /vaults, PATCH /vaults/*";

pub(crate) const ALL: &[Fault] = &[
    fault!(
        "vaults.name-51",
        "A vault's name of 51 characters is accepted.",
        ["LI-06", "ER-06"],
        asks(WRITES, |ask| ask.edit(|body| cut(body, "name", 51)))
    ),
    fault!("vaults.name-50", "A vault's name of 50 characters is refused.", ["LI-06"], {
        instead(WRITES, |ask| refused(ask, "name", |text| text.chars().count() == 50))
    }),
    fault!("vaults.name-bytes", "The 50 characters of a name are counted in bytes.", ["LI-06"], {
        instead(WRITES, |ask| {
            refused(ask, "name", |text| text.len() > 50 && text.chars().count() <= 50)
        })
    }),
    fault!("vaults.name-utf16", "A name is counted in UTF-16 units.", ["LI-06"], {
        instead(WRITES, |ask| {
            let over = |text: &str| text.encode_utf16().count() > 50 && text.chars().count() <= 50;
            refused(ask, "name", over)
        })
    }),
    fault!(
        "vaults.name-empty",
        "An update to the empty name is passed over and answered 200.",
        ["LI-06", "ER-06"],
        asks("PATCH /vaults/*", |ask| ask.edit(|body| {
            if body["name"] == "" {
                without(body, "name");
            }
        }))
    ),
    fault!("vaults.name-trimmed", "White space around a name is cut off.", ["VA-02"], {
        asks(WRITES, |ask| {
            ask.edit(|body| {
                if let Some(name) = body["name"].as_str().filter(|name| name.trim() != "") {
                    body["name"] = name.trim().into();
                }
            });
        })
    }),
    fault!(
        "vaults.name-missing",
        "A vault without a name is made as \"Untitled\".",
        ["VA-17", "ER-04"],
        asks("POST /vaults", |ask| ask.edit(|body| {
            if body.is_object() && body.get("name").is_none() {
                body["name"] = "Untitled".into();
            }
        }))
    ),
    fault!("vaults.name-number", "A number is taken as a name.", ["ER-05", "VA-17"], {
        asks("POST /vaults", |ask| {
            ask.edit(|body| {
                if body["name"].is_number() {
                    body["name"] = body["name"].to_string().into();
                }
            });
        })
    }),
    fault!(
        "vaults.description-201",
        "A description of 201 characters is accepted.",
        ["LI-07", "ER-06"],
        asks(WRITES, |ask| ask.edit(|body| cut(body, "description", 201)))
    ),
    fault!("vaults.description-200", "A description of 200 characters is refused.", ["LI-07"], {
        instead(WRITES, |ask| refused(ask, "description", |text| text.chars().count() == 200))
    }),
    fault!("vaults.description-bytes", "A description is counted in bytes.", ["LI-07"], {
        instead(WRITES, |ask| {
            refused(ask, "description", |text| text.len() > 200 && text.chars().count() <= 200)
        })
    }),
    fault!(
        "vaults.description-dropped",
        "A create forgets the description.",
        ["VA-18", "LI-07", "VA-03", "ER-03", "ER-05", "VA-16", "VA-23", "PR-02"],
        { asks("POST /vaults", |ask| ask.edit(|body| without(body, "description"))) }
    ),
    fault!(
        "vaults.null-kept",
        "description: null in an update is passed over.",
        ["VA-25", "VA-11", "VA-24"],
        {
            asks("PATCH /vaults/*", |ask| {
                ask.edit(|body| {
                    if body.get("description").is_some_and(Value::is_null) {
                        without(body, "description");
                    }
                });
            })
        }
    ),
    fault!(
        "vaults.patch-clears",
        "An update that leaves the description out clears it.",
        ["VA-23"],
        asks("PATCH /vaults/*", |ask| ask.edit(|body| {
            if body.get("name").is_some() && body.get("description").is_none() {
                body["description"] = Value::Null;
            }
        }))
    ),
    fault!(
        "vaults.patch-hides",
        "An update that leaves the visibility out makes the vault private.",
        ["VA-23"],
        asks("PATCH /vaults/*", |ask| ask.edit(|body| {
            if body.get("description").is_some() && body.get("visibility").is_none() {
                body["visibility"] = "private".into();
            }
        }))
    ),
    fault!(
        "vaults.patch-first-field",
        "An update with a name takes no other field.",
        ["VA-24", "VA-20"],
        asks("PATCH /vaults/*", |ask| ask.edit(|body| {
            if body["name"].as_str().is_some_and(|name| !name.is_empty()) {
                without(body, "visibility");
            }
        }))
    ),
    fault!(
        "vaults.patch-answers-old",
        "An update answers with the vault before it.",
        ["VA-22", "VA-24", "LI-07", "VA-04", "VA-11"],
        {
            whole("PATCH /vaults/*", |ask, upstream| async move {
                let before = upstream.send(&ask.another(Method::GET, ask.path.as_str())).await;
                let answer = upstream.send(&ask).await;
                if answer.is_success() { before } else { answer }
            })
        }
    ),
    fault!(
        "vaults.patch-answers-part",
        "An update answers with the id and what it brought.",
        ["VA-22", "VA-23", "VA-04", "VA-11"],
        answers("PATCH /vaults/*", |ask, answer| {
            let body = ask.json();
            answer.edit_data(|vault| {
                let kept = |key: &str| key == "id" || body.get(key).is_some();
                if let Value::Object(fields) = vault {
                    fields.retain(|key, _| kept(key));
                }
            });
        })
    ),
    fault!(
        "vaults.visible-by-default",
        "A new vault is unlisted by default.",
        ["VA-19", "VA-30", "ER-10"],
        {
            asks("POST /vaults", |ask| {
                ask.edit(|body| {
                    if body.is_object() && body.get("visibility").is_none() {
                        body["visibility"] = "unlisted".into();
                    }
                });
            })
        }
    ),
    fault!(
        "vaults.visibility-private",
        "An unknown visibility of a create is private.",
        ["VA-20", "ER-03"],
        {
            asks("POST /vaults", |ask| {
                ask.edit(|body| {
                    if body["visibility"].as_str().is_some_and(unknown) {
                        body["visibility"] = "private".into();
                    }
                });
            })
        }
    ),
    fault!(
        "vaults.visibility-kept",
        "An unknown visibility of an update is passed over.",
        ["VA-20"],
        {
            asks("PATCH /vaults/*", |ask| {
                ask.edit(|body| {
                    if body["visibility"].as_str().is_some_and(unknown) {
                        without(body, "visibility");
                    }
                });
            })
        }
    ),
    fault!("vaults.visibility-case", "A visibility may be in upper case.", ["VA-20"], {
        asks(WRITES, |ask| {
            ask.edit(|body| {
                let lower = body["visibility"].as_str().map(str::to_lowercase);
                if let Some(lower) = lower.filter(|lower| !unknown(lower)) {
                    body["visibility"] = lower.into();
                }
            });
        })
    }),
    fault!(
        "vaults.general-deleted",
        "The General vault can be deleted.",
        ["VA-12"],
        general_deleted()
    ),
];

fn unknown(visibility: &str) -> bool {
    !["private", "unlisted", "public"].contains(&visibility)
}

/// Cuts a text that is exactly so long by a character.
pub(super) fn cut(body: &mut Value, field: &str, chars: usize) {
    if let Some(text) = body[field].as_str().filter(|text| text.chars().count() == chars) {
        body[field] = text.chars().skip(1).collect::<String>().into();
    }
}

/// A refusal if the field has such a text.
pub(super) fn refused(ask: &Ask, field: &str, bad: impl FnOnce(&str) -> bool) -> Option<Answer> {
    let bad = ask.text(field).is_some_and(|text| bad(&text));
    bad.then(|| Answer::refusal(400, &format!("{field} is too long")))
}

/// It only says so; the vault is there again with the next output.
fn general_deleted() -> How {
    whole("DELETE /vaults/*", |ask, upstream| async move {
        let vault = upstream.send(&ask.another(Method::GET, ask.path.as_str())).await;
        if vault.json()["data"]["isSystem"] == true {
            return Answer::data(200, &json!({ "id": ask.id(1), "deleted": true }));
        }
        upstream.send(&ask).await
    })
}
