//! The objects of the specification, field by field, and the answers that show them.

use futures::future::BoxFuture;
use strum::Display;

use crate::scenarios::shared::prelude::*;

pub struct Object {
    pub name: &'static str,
    pub words: &'static str,
    pub fields: &'static [Shape],
    pub shown: fn(Case) -> BoxFuture<'static, Result<Shown>>,
}

pub struct Shape {
    pub name: &'static str,
    pub kind: Type,
    pub rule: &'static str,
}

/// In words that complete a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
pub enum Type {
    #[strum(to_string = "an integer")]
    Integer,
    #[strum(to_string = "a string")]
    Text,
    #[strum(to_string = "a string or null")]
    TextOrNull,
    #[strum(to_string = "a boolean")]
    Boolean,
    #[strum(to_string = "true")]
    True,
    #[strum(to_string = "{0}")]
    Exactly(i64),
    #[strum(to_string = "an ISO 8601 timestamp")]
    Timestamp,
    #[strum(to_string = "an array of integers")]
    Integers,
    #[strum(to_string = "an array of images with url, width, height and createdAt")]
    Images,
    #[strum(to_string = "one of {0}")]
    OneOf(&'static str),
}

impl Type {
    pub fn fits(self, value: &Value) -> bool {
        let timestamp = |value: &Value| value.as_str().and_then(check::timestamp).is_some();
        let integer = |value: &Value| value.is_i64() || value.is_u64();
        let all =
            |test: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|a| a.iter().all(test));
        match self {
            Self::Integer => integer(value),
            Self::Text => value.is_string(),
            Self::TextOrNull => value.is_string() || value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::True => *value == true,
            Self::Exactly(number) => *value == number,
            Self::Timestamp => timestamp(value),
            Self::Integers => all(&integer),
            Self::Images => all(&|one| {
                let sizes = ["width", "height"].iter().all(|size| integer(&one[*size]));
                one["url"].is_string() && sizes && timestamp(&one["createdAt"])
            }),
            Self::OneOf(words) => words.split(", ").any(|word| *value == word),
        }
    }
}

impl Shape {
    pub fn is_in(&self, object: &Value, reply: &ApiResponse) -> Result {
        let value = object.get(self.name);
        let got = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        let fits = value.is_some_and(|value| self.kind.fits(value));
        reply.ensure(fits, format!("{} to be {}", self.name, self.kind), got).map(drop)
    }

    /// The rule of all ids or of all timestamps, if it is one.
    pub fn convention(&self) -> Option<&'static str> {
        match self.kind {
            Type::Timestamp => Some("EN-09"),
            Type::Integers => Some("EN-08"),
            Type::Integer if self.name == "id" || self.name.ends_with("Id") => Some("EN-08"),
            _ => None,
        }
    }
}

macro_rules! shapes {
    ($($name:literal $kind:expr, $rule:literal;)+) => {
        &[$(Shape { name: $name, kind: $kind, rule: $rule }),+]
    };
}

pub const PROMPT: &[Shape] = shapes! {
    "id" Type::Integer, "PR-01";
    "title" Type::Text, "PR-02";
    "prompt" Type::Text, "PR-02";
    "promptType" Type::OneOf("image, text, video"), "PR-03";
    "platform" Type::TextOrNull, "PR-04";
    "status" Type::Text, "PR-05";
    "images" Type::Images, "PR-06";
    "vaultIds" Type::Integers, "PR-08";
    "createdAt" Type::Timestamp, "PR-09";
    "updatedAt" Type::Timestamp, "PR-09";
};

/// The further fields of an entry of a vault's listing.
pub const MEMBER: &[Shape] = shapes! {
    "vaultPromptId" Type::Integer, "VC-04";
    "isPinned" Type::Boolean, "VC-04";
};

pub const VAULT: &[Shape] = shapes! {
    "id" Type::Integer, "VA-01";
    "name" Type::Text, "VA-02";
    "description" Type::TextOrNull, "VA-03";
    "slug" Type::Text, "VA-04";
    "visibility" Type::OneOf("private, unlisted, public"), "VA-05";
    "accessType" Type::TextOrNull, "VA-06";
    "isLocked" Type::Boolean, "VA-07";
    "coverImageUrl" Type::TextOrNull, "VA-08";
    "isSystem" Type::Boolean, "VA-09";
    "promptCount" Type::Integer, "VA-10";
    "createdAt" Type::Timestamp, "VA-11";
    "updatedAt" Type::Timestamp, "VA-11";
};

pub static OBJECTS: &[Object] = &[
    Object {
        name: "prompt",
        words: "answer with a prompt",
        fields: PROMPT,
        shown: |case| Box::pin(prompts(case)),
    },
    Object {
        name: "member",
        words: "entry of a vault's listing",
        fields: MEMBER,
        shown: |case| Box::pin(members(case)),
    },
    Object {
        name: "vault",
        words: "answer with a vault",
        fields: VAULT,
        shown: |case| Box::pin(vaults(case)),
    },
    Object {
        name: "move",
        words: "answer to a move",
        fields: shapes! {
            "promptId" Type::Integer, "VC-17";
            "sourceVaultId" Type::Integer, "VC-17";
            "targetVaultId" Type::Integer, "VC-17";
            "vaultPromptId" Type::Integer, "VC-17";
        },
        shown: |case| Box::pin(moved(case)),
    },
    Object {
        name: "generation",
        words: "answer to a generation",
        fields: shapes! {
            "success" Type::True, "GE-03";
            "clientJobId" Type::Text, "GE-02";
            "providerRequestId" Type::Text, "GE-04";
            "statusUrl" Type::Text, "GE-02";
        },
        shown: |case| Box::pin(generation(case)),
    },
    Object {
        name: "slot",
        words: "upload slot",
        fields: shapes! {
            "uploadUrl" Type::Text, "UP-04";
            "token" Type::Text, "UP-05";
            "url" Type::Text, "UP-06";
            "path" Type::Text, "UP-07";
            "contentType" Type::OneOf("image/png, image/jpeg, image/webp, image/gif"), "UP-08";
            "size" Type::Integer, "UP-08";
            "expiresIn" Type::Exactly(7200), "UP-09";
        },
        shown: |case| Box::pin(slots(case)),
    },
];

/// With the required fields only, and with all of them.
async fn prompts(case: Case) -> Result<Shown> {
    let mut shown = in_every_answer(&case, json!({})).await?;
    shown.extend(in_every_answer(&case, all_inputs(&case)).await?);
    shown.extend(members(case).await?);
    Ok(shown)
}

async fn members(case: Case) -> Result<Shown> {
    let vault = case.vault().await?;
    case.prompt_with(json!({ "vaultId": vault.id })).await?;
    vault.add_in_turn(&case.prompts(2).await?).await?;
    let listing = vault.listing().await?;
    let entries = listing.array("/data")?.len();
    Ok((0..entries).map(|n| (listing.clone(), format!("/data/{n}"))).collect())
}

async fn vaults(case: Case) -> Result<Shown> {
    let mut shown = Vec::new();
    for fields in [json!({}), json!({ "description": "Boats", "visibility": "unlisted" })] {
        let body = merged(json!({ "name": case.name("vault") }), fields);
        let created = case.wire().post("/vaults", body).await?;
        created.success()?;
        // An answer without the id is all that can be looked at.
        let Ok(id) = created.integer("/data/id") else {
            return Ok(vec![(created, "/data".into())]);
        };
        let vault = case.vault_at(id);
        let updated = vault.update(json!({ "visibility": "private" })).await?;
        let alone = [created, vault.read().await?, updated];
        shown.extend(alone.map(|reply| (reply, "/data".to_owned())));
    }
    // The caller's vaults and those of the service; others may come and go while it is read.
    let list = case.wire().get("/vaults").await?;
    let entries = list.status(200)?.array("/data")?.len();
    shown.extend((0..entries).map(|n| (list.clone(), format!("/data/{n}"))));
    Ok(shown)
}

async fn moved(case: Case) -> Result<Shown> {
    let (_, target, [member]) = case.source_and_target().await?;
    Ok(vec![(member.move_to(&target).await?, "/data".to_owned())])
}

async fn generation(case: Case) -> Result<Shown> {
    let vault = case.vault().await?.id;
    let mut shown = Vec::new();
    for fields in [json!({}), json!({ "clientJobId": own_id(&case) })] {
        let reply = send(&case, merged(fields, json!({ "vaultId": vault }))).await?;
        shown.push((reply.success()?.clone(), "/data".to_owned()));
    }
    Ok(shown)
}

async fn slots(case: Case) -> Result<Shown> {
    let slots = TYPES.map(async |kind| Ok((ask(&case, kind, 12_345).await?, "/data".to_owned())));
    try_join_all(slots).await
}
