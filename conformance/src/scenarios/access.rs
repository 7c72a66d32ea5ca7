//! Credentials that let nobody in, at each endpoint: a refusal with 401 that changes nothing.

use std::sync::LazyLock;

use super::endpoints::{Ids, ROWS, Row, Scope};
use super::shared::prelude::*;

pub static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let scenario = |row: &'static Row, credential: &'static Credential| match row.scope {
        _ if credential.id != NO_SCOPE => Some(made(row, credential, credential.rule)),
        Scope::Stated(rule) => Some(made(row, credential, rule)),
        Scope::Chosen | Scope::NotNeeded => None,
    };
    ROWS.iter().flat_map(|row| CREDENTIALS.iter().filter_map(move |it| scenario(row, it))).collect()
});

struct Credential {
    id: &'static str,
    words: &'static str,
    rule: &'static str,
    needs: &'static [Need],
    replacement: Replacement,
}

enum Replacement {
    As(fn(&Case) -> Wire),
    Headers(fn(&str) -> Vec<Form>),
}

const NO_SCOPE: &str = "no-scope";
const FORMS: usize = 5;

#[rustfmt::skip]
static CREDENTIALS: [Credential; 6] = [
    Credential { id: "missing", words: "without Authorization",
        rule: "AU-02", needs: &[], replacement: Replacement::As(Case::anonymous) },
    Credential { id: "not-bearer", words: "with a header that does not start with Bearer",
        rule: "AU-03", needs: &[], replacement: Replacement::Headers(not_bearer) },
    Credential { id: "truncated", words: "with a truncated key",
        rule: "AU-04", needs: &[], replacement: Replacement::Headers(truncated) },
    Credential { id: "unknown", words: "with an unknown key",
        rule: "AU-05", needs: &[], replacement: Replacement::Headers(unknown) },
    Credential { id: "revoked", words: "with a revoked key",
        rule: "AU-06", needs: &[Need::RevokedKey], replacement: Replacement::As(Case::revoked) },
    Credential { id: NO_SCOPE, words: "without prompts:write",
        rule: "AU-07", needs: &[Need::ReadOnlyKey], replacement: Replacement::As(Case::read_only) },
];

/// That a call needs the scope where the specification leaves it open (S-51), for own suites.
pub fn chosen_scope() -> impl Iterator<Item = Scenario> {
    let chosen = ROWS.iter().filter(|row| row.scope == Scope::Chosen);
    chosen.flat_map(|row| {
        CREDENTIALS.iter().filter(|one| one.id == NO_SCOPE).map(|one| made(row, one, "S-51"))
    })
}

fn made(row: &'static Row, credential: &'static Credential, rule: &'static str) -> Scenario {
    let Credential { id, words, needs, .. } = *credential;
    let title = format!("{} {}: {words} it is 401 and changes nothing", row.method, row.template);
    let id = format!("access.{id}.{}", row.name);
    let run = move |case| refused(case, row, credential);
    Scenario { needs, ..Scenario::generated(id, title, vec![rule], run) }
}

async fn refused(case: Case, row: &Row, credential: &Credential) -> Result {
    let wire = case.wire();
    let ids = Ids::make(&case).await?;
    if row.method == Method::GET && row.template.contains("{vaultId}") {
        let (vault, public) = (case.vault_at(ids.vault), json!({ "visibility": "public" }));
        set_up(async { vault.update(public).await?.success().map(drop) }).await?;
    }
    let before = ids.state(&wire).await?;
    let mut endpoint = row.call(&case, &ids);
    let name = case.name("refused");
    if let (Some(body), "create-prompt" | "create-vault") = (&mut endpoint.body, row.name) {
        // A resource that is created after all is found: a prompt in this vault, a vault by its name.
        body["vaultId"] = json!(ids.second_vault);
        body["name"] = json!(name);
    }
    match credential.replacement {
        Replacement::As(wire) => endpoint.send(&wire(&case)).await?.status(401).map(drop)?,
        Replacement::Headers(headers) => {
            // All forms at one endpoint, and some at each.
            let forms = headers(main_key(&case));
            let taken = if row.name == "list-vaults" { forms.len() } else { FORMS };
            for form in forms.iter().take(taken) {
                unauthorized(endpoint.call(&case.anonymous()), form).await?;
            }
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)?;
    wire.get("/vaults").await?.lacks("name", name)
}

fn not_bearer(key: &str) -> Vec<Form> {
    let forms = [
        ("an empty header", String::new()),
        ("the key alone", key.to_owned()),
        ("Bearer alone", "Bearer".to_owned()),
        ("Bearer and a space", "Bearer ".to_owned()),
        ("Bearer without the space", format!("Bearer{key}")),
        ("Bearer and a colon", format!("Bearer:{key}")),
        ("Bearer, a colon and a space", format!("Bearer: {key}")),
        ("Bearer and a tab", format!("Bearer\t{key}")),
        ("Basic", format!("Basic {key}")),
        ("Basic with user and password", "Basic dXNlcjpwYXNzd29yZA==".to_owned()),
        ("Token", format!("Token {key}")),
        ("a word before Bearer", format!("Token Bearer {key}")),
        ("Bearers", format!("Bearers {key}")),
        ("quoted", format!("\"Bearer {key}\"")),
    ];
    forms.map(|(name, value)| form(name, value)).into()
}

fn truncated(key: &str) -> Vec<Form> {
    let secret = key.rsplit('_').next().unwrap_or(key).len();
    [1, 2, 3, 8, secret, key.len() / 2].map(|places| truncated_by(key, places)).into()
}

/// Keys of which one part was given out and another one was not.
fn unknown(key: &str) -> Vec<Form> {
    let (before, secret) = key.rsplit_once('_').unwrap_or(("", key));
    let (vendor, public) = before.split_once("_live_").unwrap_or(("", before));
    let never: String = secret.chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let forms = [
        ("one character more", format!("{key}a")),
        ("the last character exchanged", mistyped(key, 0)),
        ("the key backwards", key.chars().rev().collect()),
        ("another secret", format!("{before}_{never}")),
        ("another public id", format!("{vendor}_live_{public}x_{secret}")),
        ("no public id", format!("{vendor}_live__{secret}")),
        ("another vendor", format!("{vendor}x_live_{public}_{secret}")),
        ("test in place of live", format!("{vendor}_test_{public}_{secret}")),
        ("public id and secret exchanged", format!("{vendor}_live_{secret}_{public}")),
        ("nothing of the key", format!("{vendor}_live_0000000000000000_{never}")),
        ("a word", "null".to_owned()),
        ("the scheme twice", format!("Bearer {key}")),
        ("a comma and more", format!("{key}, x")),
    ];
    forms.map(|(name, key)| form(name, format!("Bearer {key}"))).into()
}
