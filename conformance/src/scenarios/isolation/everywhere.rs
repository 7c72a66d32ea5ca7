//! Every place in every endpoint where an id can stand, as a table: an id of another
//! account there is refused, changes nothing, and is answered like an id that names
//! nothing. A test holds the table to the endpoints.

use http::Method;
use serde_json::{Value, json};

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{Ids, absent};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, Scenario, check};

use super::{answers, both_ways};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "isolation.everywhere.refused"
        ["ER-10", "PR-27", "PR-38", "PR-44", "VC-14", "VC-23", "VC-24"] [OtherAccount] refused,
        "An id of another account is refused in every path, body and query, and nothing changes" },
    core! { "isolation.everywhere.absent"
        ["ER-08", "PR-27", "PR-38", "PR-44", "VC-14", "VC-24"] absent_refused,
        "An id that names nothing is refused in every path, body and query, and nothing changes" },
    reference! { "isolation.everywhere.same-answer" ["ER-08", "ER-10"] [OtherAccount] same_answer,
        "An id of another account and one of nothing get the same answer in every place (S-31, \
         S-57)" },
    reference! { "isolation.everywhere.read-only" ["ER-10"] [OtherAccount, ReadOnlyKey] read_only,
        "A key that may only read is told no more of foreign ids than of those of nothing (S-57)" },
];

/// What kind of thing an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Prompt,
    Vault,
    Membership,
}

/// Where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Path,
    Body,
    Query,
}

/// One id of one endpoint.
#[derive(Debug)]
struct Place {
    method: &'static str,
    template: &'static str,
    place: Where,
    /// The parameter or field.
    name: &'static str,
    kind: Kind,
}

const fn path(
    method: &'static str,
    template: &'static str,
    name: &'static str,
    kind: Kind,
) -> Place {
    Place { method, template, place: Where::Path, name, kind }
}

const fn body(
    method: &'static str,
    template: &'static str,
    name: &'static str,
    kind: Kind,
) -> Place {
    Place { method, template, place: Where::Body, name, kind }
}

const PROMPT: &str = "/prompts/{promptId}";
const SAVE: &str = "/prompts/{promptId}/save";
const VAULT: &str = "/vaults/{vaultId}";
const FORK: &str = "/vaults/{vaultId}/fork";
const CONTENTS: &str = "/vaults/{vaultId}/prompts";
const MEMBERSHIP: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}";
const PIN: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/pin";
const MOVE: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/move";

/// What only reads comes first, what deletes last.
const PLACES: [Place; 24] = [
    Place {
        method: "GET",
        template: "/prompts",
        place: Where::Query,
        name: "vaultId",
        kind: Kind::Vault,
    },
    path("GET", PROMPT, "promptId", Kind::Prompt),
    path("GET", VAULT, "vaultId", Kind::Vault),
    path("GET", CONTENTS, "vaultId", Kind::Vault),
    body("POST", "/prompts", "vaultId", Kind::Vault),
    path("PATCH", PROMPT, "promptId", Kind::Prompt),
    body("PATCH", PROMPT, "vaultId", Kind::Vault),
    path("POST", SAVE, "promptId", Kind::Prompt),
    body("POST", SAVE, "vaultId", Kind::Vault),
    path("PATCH", VAULT, "vaultId", Kind::Vault),
    path("POST", FORK, "vaultId", Kind::Vault),
    path("POST", CONTENTS, "vaultId", Kind::Vault),
    body("POST", CONTENTS, "promptIds", Kind::Prompt),
    path("POST", PIN, "vaultId", Kind::Vault),
    path("POST", PIN, "vaultPromptId", Kind::Membership),
    path("DELETE", PIN, "vaultId", Kind::Vault),
    path("DELETE", PIN, "vaultPromptId", Kind::Membership),
    path("POST", MOVE, "vaultId", Kind::Vault),
    path("POST", MOVE, "vaultPromptId", Kind::Membership),
    body("POST", MOVE, "targetVaultId", Kind::Vault),
    path("DELETE", MEMBERSHIP, "vaultId", Kind::Vault),
    path("DELETE", MEMBERSHIP, "vaultPromptId", Kind::Membership),
    path("DELETE", PROMPT, "promptId", Kind::Prompt),
    path("DELETE", VAULT, "vaultId", Kind::Vault),
];

impl Kind {
    fn of(self, ids: &Ids) -> i64 {
        match self {
            Self::Prompt => ids.prompt,
            Self::Vault => ids.vault,
            Self::Membership => ids.membership,
        }
    }
}

impl Place {
    /// The call with the caller's own ids everywhere but here.
    async fn call(&self, wire: &Wire, own: &Ids, id: i64) -> Result<Reply, Failure> {
        let here = |place, name: &str, own: i64| {
            if self.place == place && self.name == name { id } else { own }
        };
        let in_path = |name: &str, own: i64| here(Where::Path, name, own).to_string();
        let mut path = self
            .template
            .replace("{promptId}", &in_path("promptId", own.prompt))
            .replace("{vaultId}", &in_path("vaultId", own.vault))
            .replace("{vaultPromptId}", &in_path("vaultPromptId", own.membership));
        if self.place == Where::Query {
            path = format!("{path}?{}={id}", self.name);
        }
        let method = Method::from_bytes(self.method.as_bytes()).unwrap_or_default();
        let call = wire.call(method, &path);
        let in_body = |name: &str, own: i64| here(Where::Body, name, own);
        let call = match self.body(own, in_body) {
            Some(body) => call.json(&body),
            None => call,
        };
        call.send().await
    }

    /// A body that would do something if the ids were right.
    fn body(&self, own: &Ids, id: impl Fn(&str, i64) -> i64) -> Option<Value> {
        let body = match (self.method, self.template) {
            ("POST", "/prompts") => {
                json!({ "title": "strange", "prompt": "p", "vaultId": id("vaultId", own.vault) })
            }
            ("PATCH", PROMPT) => {
                json!({ "title": "strange", "vaultId": id("vaultId", own.target) })
            }
            ("POST", SAVE) => json!({ "vaultId": id("vaultId", own.target) }),
            ("PATCH", VAULT) => json!({ "name": "strange", "visibility": "public" }),
            ("POST", CONTENTS) => json!({ "promptIds": [id("promptIds", own.loose)] }),
            ("POST", MOVE) => json!({ "targetVaultId": id("targetVaultId", own.target) }),
            _ => return None,
        };
        Some(body)
    }

    fn words(&self) -> String {
        format!("{} {}, {:?} {}", self.method, self.template, self.place, self.name)
    }

    /// Refused; a query may also find nothing, and removing a membership that is not there
    /// may be a success (S-31).
    fn is_refused(&self, reply: &Reply) -> Result<(), Failure> {
        let removal = self.method == "DELETE" && self.name == "vaultPromptId";
        let checked = match reply.status_code() {
            200 if self.place == Where::Query => reply.equals("/data", json!([])),
            200 if removal && !self.template.ends_with("/pin") => Ok(reply),
            _ => reply.status_in(400..=499),
        };
        check::about(self.words(), checked).map(drop)
    }
}

async fn refused(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        let state = async || -> Result<[Value; 2], Failure> {
            Ok([owned.state(&pair.owner).await?, strange.state(&pair.stranger).await?])
        };
        let before = state().await?;
        for place in &PLACES {
            let reply = place.call(&pair.stranger, &strange, place.kind.of(&owned)).await?;
            place.is_refused(&reply)?;
        }
        check::equal("what the two accounts have", &state().await?, &before)?;
    }
    Ok(())
}

async fn absent_refused(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let own = Ids::make(&case, &wire).await?;
    let before = own.state(&wire).await?;
    for place in &PLACES {
        let reply = place.call(&wire, &own, absent(place.kind.of(&own))).await?;
        place.is_refused(&reply)?;
    }
    check::equal("what was there", &own.state(&wire).await?, &before)
}

async fn same_answer(case: Case) -> Result<(), Failure> {
    for pair in both_ways(&case) {
        let (owned, strange, _) = pair.make(&case).await?;
        compare(&pair.stranger, &owned, &strange).await?;
    }
    Ok(())
}

async fn read_only(case: Case) -> Result<(), Failure> {
    let owned = Ids::make(&case, &case.other()).await?;
    let own = Ids::make(&case, &case.wire()).await?;
    compare(&case.read_only(), &owned, &own).await
}

async fn compare(wire: &Wire, owned: &Ids, own: &Ids) -> Result<(), Failure> {
    for place in &PLACES {
        let foreign = place.kind.of(owned);
        let nothing = absent(foreign);
        let expected = place.call(wire, own, nothing).await?;
        let got = place.call(wire, own, foreign).await?;
        let same = answers::same(&got, &expected, Some((foreign, nothing)));
        check::about(place.words(), same)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{PLACES, Where};
    use crate::scenarios::endpoints::{self, Ids};
    use crate::{Case, Target, TargetConfig};

    fn has(method: &str, template: &str, place: Where, name: &str) -> bool {
        PLACES.iter().any(|row| {
            (row.method, row.template, row.place, row.name) == (method, template, place, name)
        })
    }

    #[test]
    fn every_id_of_every_endpoint_is_in_the_table() {
        let config = TargetConfig::new("http://127.0.0.1:1/api/v1".parse().unwrap(), "a-long-key");
        let case = Case::new(Arc::new(Target::new(config).unwrap()), "t");
        let ids = Ids { prompt: 1, vault: 2, membership: 3, spare: 4, loose: 5, target: 6 };
        let mut missing = Vec::new();
        let mut expect = |endpoint: &endpoints::Endpoint, place, name: &str| {
            if !has(endpoint.method.as_str(), endpoint.template, place, name) {
                missing.push(format!("{endpoint}: {place:?} {name}"));
            }
        };
        for endpoint in endpoints::all(&case, &ids) {
            for name in ["promptId", "vaultId", "vaultPromptId"] {
                if endpoint.template.contains(&format!("{{{name}}}")) {
                    expect(&endpoint, Where::Path, name);
                }
            }
            for name in
                endpoint.body.as_ref().and_then(|body| body.as_object()).into_iter().flatten()
            {
                if name.0.ends_with("Id") || name.0.ends_with("Ids") {
                    expect(&endpoint, Where::Body, name.0);
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    #[test]
    fn every_row_is_of_an_endpoint_and_stands_there_once() {
        let mut seen = std::collections::HashSet::new();
        for row in &PLACES {
            assert!(seen.insert(row.words()), "{} twice", row.words());
            let named = row.template.contains(&format!("{{{}}}", row.name));
            assert_eq!(named, row.place == Where::Path, "{}", row.words());
        }
    }
}
