//! The form of the header `Authorization`; the key in it, which has to be whole, known and not
//! revoked; and what a key without `prompts:write` may read.

use futures::future::try_join_all;

use super::{Authorization, main_key, mistyped};
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.header.accepted" ["AU-01"] accepted,
        "Every endpoint lets in a call with Authorization: Bearer and the key" },
    core! { "auth.header.case" ["AU-03"]
        |case| refused_everywhere(case, |key| {
            let form = |word| Authorization::new(word, format!("{word} {key}"));
            ["bearer", "BEARER", "bEARER"].map(form).into()
        }),
        "Bearer is taken only as it is written, upper and lower case" },
    reference! { "auth.header.spaces" ["AU-03", "AU-05"] ("S-52")
        |case| refused_everywhere(case, spaces),
        "No further space is taken before, after or within the key" },
    reference! { "auth.header.two" ["AU-03"] ("S-52") |case| refused_everywhere(case, two),
        "Two Authorization headers are refused, even if one or both are right" },
    core! { reads "auth.header.elsewhere" ["AU-02"] elsewhere,
        "A key in the query, a cookie or another header is no Authorization" },
    reference! { reads "auth.header.health" ["AU-01"] ("S-54") health,
        "The health addresses beside the API need no key" },
    core! { reads "auth.key.truncated-anywhere" ["AU-04"] |case| keys_refused(case, truncated),
        "A key that is cut off at any place is answered 401" },
    core! { reads "auth.key.mistyped-anywhere" ["AU-05"] |case| keys_refused(case, mistyped_anywhere),
        "A key with any one character exchanged is answered 401" },
    core! { reads "auth.key.other-case" ["AU-05"] |case| keys_refused(case, in_other_cases),
        "A key with any one letter in the other case, or all of them, is answered 401" },
    reference! { "auth.scope.reads" ["AU-01"] ("S-48", "S-50") [ReadOnlyKey] reads,
        "A key without prompts:write reads all that the account's other keys read" },
];

async fn accepted(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids) {
        let reply = endpoint.send(&case.wire()).await?;
        reply.ensure(reply.status_code() != 401, "another status than 401", "status 401")?;
    }
    Ok(())
}

/// Every endpoint answers 401 to each of these, made from the right key.
async fn refused_everywhere(case: Case, forms: fn(&str) -> Vec<Authorization>) -> Result {
    let ids = Ids::make(&case).await?;
    let endpoints = endpoints::all(&case, &ids);
    for form in forms(main_key(&case)) {
        for endpoint in &endpoints {
            form.unauthorized(endpoint.call(&case.anonymous())).await?;
        }
    }
    Ok(())
}

fn spaces(key: &str) -> Vec<Authorization> {
    let (head, tail) = key.split_at(key.len() / 2);
    vec![
        Authorization::new("two spaces", format!("Bearer  {key}")),
        Authorization::new("a space and a tab", format!("Bearer \t{key}")),
        Authorization::new("a space within", format!("Bearer {head} {tail}")),
        Authorization::new("a word after", format!("Bearer {key} x")),
        Authorization::new("a comma after", format!("Bearer {key},")),
        Authorization::new("a list of two", format!("Bearer {key}, Bearer {key}")),
        Authorization::new("in quotes", format!("Bearer \"{key}\"")),
    ]
}

fn two(key: &str) -> Vec<Authorization> {
    let (right, wrong) = (&*format!("Bearer {key}"), "Basic dXNlcjpwYXNzd29yZA==");
    vec![
        Authorization::two("the right one twice", [right, right]),
        Authorization::two("the right one first", [right, wrong]),
        Authorization::two("the right one last", [wrong, right]),
    ]
}

async fn elsewhere(case: Case) -> Result {
    let key = main_key(&case);
    let get = |path: &str| case.anonymous().call(Method::GET, path);
    let bearer = format!("Bearer {key}");
    // An unknown parameter may be what is refused (S-03).
    let in_query = get(&format!("/vaults?api_key={key}&access_token={key}")).send().await?;
    in_query.is_client_error("a key in the query")?;
    for (name, call) in [
        ("in a cookie", get("/vaults").header("cookie", format!("api_key={key}"))),
        ("in x-api-key", get("/vaults").header("x-api-key", key)),
        ("in proxy-authorization", get("/vaults").header("proxy-authorization", &bearer)),
    ] {
        check::with_context(name, call.send().await?.status(401))?;
    }
    Ok(())
}

async fn health(case: Case) -> Result {
    // The HTTP client resolves the dots before it sends.
    for path in ["/../../healthz", "/../../readyz"] {
        case.anonymous().get(path).await?.status(200)?;
    }
    Ok(())
}

/// `GET /vaults` answers 401 to each of these keys, made from the right one. The first text says
/// what it is.
async fn keys_refused(case: Case, keys: fn(&str) -> Vec<(String, String)>) -> Result {
    let case = &case;
    let tries = keys(main_key(case)).into_iter().map(|(name, key)| async move {
        Authorization::new(name, format!("Bearer {key}")).vaults_unauthorized(case).await
    });
    try_join_all(tries).await.map(drop)
}

fn truncated(key: &str) -> Vec<(String, String)> {
    let key: Vec<_> = key.chars().collect();
    let first = |length: usize| {
        (format!("the first {length} characters of the key"), key[..length].iter().collect())
    };
    (1..key.len()).map(first).collect()
}

fn mistyped_anywhere(key: &str) -> Vec<(String, String)> {
    let at = |place: usize| {
        (format!("the key with character {place} from its end exchanged"), mistyped(key, place))
    };
    (0..key.chars().count()).map(at).collect()
}

fn in_other_cases(key: &str) -> Vec<(String, String)> {
    let one = |place: usize| {
        let other = |(at, c): (usize, char)| if at == place { in_other_case(c) } else { c };
        key.chars().enumerate().map(other).collect::<String>()
    };
    let whole = [key.to_uppercase(), key.to_lowercase(), key.chars().map(in_other_case).collect()];
    let spellings = (0..key.chars().count()).map(one).chain(whole);
    let numbered = spellings.enumerate().filter(|(_, spelling)| spelling != key);
    numbered.map(|(number, key)| (format!("spelling {number} of the key"), key)).collect()
}

fn in_other_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

async fn reads(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    let (wire, reader) = (case.wire(), case.read_only());
    for endpoint in endpoints::all(&case, &ids).into_iter().filter(Endpoint::reads) {
        let reply = endpoint.send(&reader).await?;
        let got = reply.status(200)?.json()?;
        // The lists of the whole account change under other scenarios.
        if endpoint.names_prompt() || endpoint.names_vault() {
            let expected = endpoint.send(&wire).await?;
            let expected = expected.json()?;
            let what = format!("what the account's other key gets: {expected}");
            reply.ensure(got == expected, what, got)?;
        }
    }
    let filtered = reader.get(&format!("/prompts?vaultId={}", ids.vault)).await?;
    let got = filtered.status(200)?.integers("/data", "id")?;
    let members = case.vault_at(ids.vault).members().await?;
    check::equal("prompts of the vault", &got.len(), &members.len())
}
