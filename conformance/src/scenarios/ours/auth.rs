//! Refusals of keys in our words, and what a key that may only read learns.

use crate::scenarios::core::auth::{
    Form, form, main_key, mistyped, reads, refusals, refused_everywhere, unknown,
    vaults_unauthorized, without_scope,
};
use crate::scenarios::endpoints::Ids;
use crate::scenarios::ids::{PLACES, compare};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    reference! { "auth.answer.texts" ["ER-03", "ER-07"] ("S-52", "S-53") [ReadOnlyKey] texts,
        "Each reason for a 401 has its own text, empty details and WWW-Authenticate: Bearer" },
    reference! { reads "auth.answer.one-text" ["AU-05", "AU-06"] ("S-53") [RevokedKey] one_text,
        "Unknown, mistyped and revoked keys share one text" },
    reference! { "auth.header.spaces" ["AU-03", "AU-05"] ("S-52")
        |case| refused_everywhere(case, spaces),
        "More spaces around or in the key, or a second Authorization header, are answered 401" },
    reference! { reads "auth.header.health" ["AU-01"] ("S-54") health,
        "The health addresses beside the API need no key" },
    reference! { "auth.scope.reads" ["AU-01"] ("S-48", "S-50") [ReadOnlyKey] reads,
        "A key without prompts:write reads all that the account's other keys read" },
    reference! { "isolation.everywhere.read-only" ["ER-10"] ("S-57")
        [OtherAccount, ReadOnlyKey] read_only,
        "A key that may only read learns no more about foreign ids than about absent ones" },
];

async fn texts(case: Case) -> Result {
    let (replies, scope) = (refusals(&case).await?, without_scope(&case).await?);
    for reply in replies.iter().chain([&scope]) {
        reply.status(401)?.equals("/details", json!({}))?;
        reply.has_header("www-authenticate", "Bearer")?;
    }
    let mut seen = Vec::new();
    // No header, a malformed one, an unknown key, and a key without the scope.
    for reply in [&replies[0], &replies[1], &replies[4], &scope] {
        let text = reply.string("/error")?;
        reply.ensure(!seen.contains(&text), "a text of its own", text)?;
        seen.push(text);
    }
    Ok(())
}

async fn one_text(case: Case) -> Result {
    let revoked = case.revoked().get("/vaults").await?;
    let text = revoked.status(401)?.string("/error")?;
    let key = main_key(&case);
    for (name, key) in [
        ("an unknown public id", unknown(key)),
        ("the secret mistyped", mistyped(key, 10)),
        ("the last character mistyped", mistyped(key, 0)),
    ] {
        let reply = vaults_unauthorized(&case, form(name, format!("Bearer {key}"))).await?;
        let same = reply.equals("/error", text);
        check::with_context(format!("the text for a revoked key also for {name}"), same)?;
    }
    Ok(())
}

fn spaces(key: &str) -> Vec<Form> {
    let (head, tail) = key.split_at(key.len() / 2);
    let (right, wrong) = (&*format!("Bearer {key}"), "Basic dXNlcjpwYXNzd29yZA==");
    let two = |name: &str, values: [&str; 2]| Form(name.into(), values.map(str::to_owned).into());
    vec![
        form("two spaces", format!("Bearer  {key}")),
        form("a space and a tab", format!("Bearer \t{key}")),
        form("a space within", format!("Bearer {head} {tail}")),
        form("a word after", format!("Bearer {key} x")),
        form("a comma after", format!("Bearer {key},")),
        form("a list of two", format!("Bearer {key}, Bearer {key}")),
        two("the right one twice", [right, right]),
        two("the right one first", [right, wrong]),
        two("the right one last", [wrong, right]),
        form("in quotes", format!("Bearer \"{key}\"")),
    ]
}

async fn health(case: Case) -> Result {
    // The HTTP client resolves the dots before it sends.
    for path in ["/../../healthz", "/../../readyz"] {
        case.anonymous().get(path).await?.status(200)?;
    }
    Ok(())
}

async fn read_only(case: Case) -> Result {
    let owned = Ids::make(&case.other_account()).await?;
    let own = Ids::make(&case).await?;
    let reader = case.on(case.read_only());
    for place in PLACES {
        compare(&reader, place, &owned, &own).await?;
    }
    Ok(())
}
