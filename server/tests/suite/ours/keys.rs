//! Keys and sessions of a browser (S-46): what a key looks like, and who may create one.

use http::header::SET_COOKIE;

use super::ids::compare;
use crate::prelude::*;
use promptarium_conformance::scenarios::core::auth::{refusals, refused_everywhere, without_scope};
use promptarium_conformance::scenarios::ids::PLACES;
use promptarium_conformance::scenarios::shared::credentials::{
    Form, form, unknown, vaults_unauthorized,
};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "keys.create.status" ["S-46"] [ReadOnlyKey] status,
        "Creating, listing and revoking keys without a session answer 401 with or without a key" },
    scenario! { reads "keys.form.alphabet" ["S-49"] alphabet,
        "Public id and secret are letters and digits" },
    scenario! { "keys.session.cookie" ["S-81"] cookie,
        "The cookie is HttpOnly, SameSite=Lax, for every path, and over HTTPS Secure, __Host-" },
    scenario! { "keys.session.other-cookies" ["S-81"] other_cookies,
        "Other cookies, the right one twice, and a sign-in code that was used are 401" },
    scenario! { "keys.session.not-beside-a-key" ["S-46", "S-81"] not_beside_a_key,
        "A key beside the session is 401 for keys, and a session is no key for other endpoints" },
    scenario! { "keys.session.cross-site" ["S-81"] cross_site,
        "A request from a page of another site is 403 and changes nothing" },
    scenario! { "auth.answer.texts" ["S-52", "S-53"] [ReadOnlyKey] texts,
        "Each reason for a 401 has its own text, empty details and WWW-Authenticate: Bearer" },
    scenario! { reads "auth.answer.one-text" ["S-53"] [RevokedKey] one_text,
        "Unknown, mistyped and revoked keys share one text" },
    scenario! { "auth.header.spaces" ["S-52"] |case| refused_everywhere(case, spaces),
        "More spaces around or in the key, or a second Authorization header, are answered 401" },
    scenario! { reads "auth.header.health" ["S-54"] health,
        "The health addresses beside the API need no key" },
    scenario! { "auth.scope.reads" ["S-48", "S-50"] [ReadOnlyKey] reads,
        "A key without prompts:write reads all that the account's other keys read" },
    scenario! { "isolation.everywhere.read-only" ["S-57"] [OtherAccount, ReadOnlyKey] read_only,
        "A key that may only read learns no more about foreign ids than about absent ones" },
];

async fn reads(case: Case) -> Result {
    let ids = Ids::make(&case).await?;
    let (wire, reader) = (case.wire(), case.read_only());
    for endpoint in endpoints::all(&case, &ids).into_iter().filter(Endpoint::reads) {
        let reply = endpoint.send(&reader).await?;
        let got = reply.status(200)?.json()?;
        // Other scenarios change the lists of the whole account.
        if endpoint.names_an_id() {
            let expected = endpoint.send(&wire).await?.json()?.clone();
            let what = format!("what the account's other key gets: {expected}");
            reply.ensure(*got == expected, what, got)?;
        }
    }
    let filtered = reader.get(&format!("/prompts?vaultId={}", ids.vault)).await?;
    let got = filtered.status(200)?.integers("/data", "id")?;
    let members = case.vault_at(ids.vault).members().await?;
    check::equal("prompts of the vault", &got.len(), &members.len())
}

/// A key that the scenario has made in the run's session.
pub(super) struct NewKey {
    pub(super) case: Case,
    pub(super) session: Wire,
    pub(super) id: String,
    pub(super) key: String,
    pub(super) answer: ApiResponse,
}

impl NewKey {
    pub(super) async fn make(case: &Case, scopes: &[&str]) -> Result<Self> {
        let session = Session::wire(case)?;
        let body = json!({ "name": case.name("key"), "scopes": scopes });
        let answer = session.post("/api-keys", body).await?;
        answer.success()?;
        let text = |place| answer.string(place).map(str::to_owned);
        let (id, key) = (text("/data/publicId")?, text("/data/key")?);
        Ok(Self { case: case.clone(), session, id, key, answer })
    }

    pub(super) fn path(&self) -> String {
        format!("/api-keys/{}", self.id)
    }

    pub(super) async fn revoke(&self) -> Result<ApiResponse> {
        self.session.delete(&self.path()).await
    }

    pub(super) async fn read(&self) -> Result<ApiResponse> {
        self.call(Method::GET, "/prompts").send().await
    }

    pub(super) async fn write(&self) -> Result<ApiResponse> {
        let body = json!({ "name": self.case.name("vault") });
        self.call(Method::POST, "/vaults").json(&body).send().await
    }

    /// What it makes is deleted with the key of the account under test.
    pub(super) fn call(&self, method: Method, path: &str) -> Call {
        let call = self.case.wire().call(method, path);
        call.header("authorization", format!("Bearer {}", self.key))
    }

    pub(super) async fn listed(&self) -> Result<Value> {
        let list = self.session.get("/api-keys").await?;
        let found = list.status(200)?.array("/data")?.into_iter().find(|one| self.is(one));
        found.ok_or_else(|| list.failure("the key in the list", "no such entry"))
    }

    pub(super) fn is(&self, record: &Value) -> bool {
        record["publicId"] == self.id
    }

    /// The record of its creation, without the key.
    pub(super) fn record(&self) -> Result<Value> {
        let mut record = self.answer.at("/data")?.clone();
        if let Some(fields) = record.as_object_mut() {
            fields.remove("key");
        }
        Ok(record)
    }
}

pub(super) fn is_plain(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric())
}

async fn alphabet(case: Case) -> Result {
    let (_, id, secret) = parts_of(main_key(&case))?;
    // A failure must not show them.
    check::ensure(is_plain(id), "letters and digits in the public id", "other characters")?;
    check::ensure(is_plain(secret), "letters and digits in the secret", "other characters")
}

async fn cookie(case: Case) -> Result {
    let sign_in = &Session::of(&case)?.sign_in;
    // There may be a second one for the port.
    let lines: Vec<_> = sign_in.headers().get_all(SET_COOKIE).iter().collect();
    sign_in.ensure(!lines.is_empty(), "a cookie", "none")?;
    let secure = case.target().config().base_url.scheme() == "https";
    for line in lines.iter().filter_map(|line| line.to_str().ok()) {
        let attributes: Vec<_> =
            line.split(';').skip(1).map(|one| one.trim().to_ascii_lowercase()).collect();
        let expected = ["path=/", "httponly", "samesite=lax"].into_iter();
        for expected in expected.chain(secure.then_some("secure")) {
            let there = attributes.iter().any(|one| one == expected);
            sign_in.ensure(there, format!("a cookie with {expected}"), attributes.join("; "))?;
        }
        let name = line.split('=').next().unwrap_or_default();
        let bound = !secure || name.starts_with("__Host-");
        sign_in.ensure(bound, "a name that begins with __Host-", name)?;
    }
    Ok(())
}

/// A call with this cookie and nothing else that a browser would add.
fn with_cookie(case: &Case, method: Method, path: &str, cookie: &str) -> Call {
    case.anonymous().call(method, path).header("cookie", cookie)
}

async fn other_cookies(case: Case) -> Result {
    let session = Session::of(&case)?;
    let cookie = &session.cookie;
    let (start, last) = cookie.split_at(cookie.len() - 1);
    let other = if last == "A" { "B" } else { "A" };
    for (name, cookie) in [
        ("the last character exchanged", format!("{start}{other}")),
        ("the last character missing", start.to_owned()),
        ("one character more", format!("{cookie}A")),
        ("another name", format!("x{cookie}")),
        ("the right one twice", format!("{cookie}; {cookie}")),
    ] {
        let reply = with_cookie(&case, Method::GET, "/api-keys", &cookie).send().await?;
        check::with_context(name, reply.status(401))?;
    }
    let reply = session.send_code_again(&case).await?;
    let set = reply.status(401)?.headers().contains_key(SET_COOKIE);
    reply.ensure(!set, "no cookie", "a Set-Cookie header").map(drop)
}

async fn not_beside_a_key(case: Case) -> Result {
    let new = NewKey::make(&case, &[]).await?;
    let body = json!({ "name": case.name("key"), "scopes": [] });
    let all = "/api-keys";
    for (method, path) in [(Method::POST, all), (Method::GET, all), (Method::DELETE, &new.path())] {
        let call = new.session.call(method, path).header("authorization", main_bearer(&case));
        call.json(&body).send().await?.status(401)?;
    }
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids) {
        endpoint.send(&new.session).await?.status(401)?;
    }
    Ok(())
}

async fn cross_site(case: Case) -> Result {
    let new = NewKey::make(&case, &[]).await?;
    let session = Session::of(&case)?;
    let cookie = &session.cookie;
    let own = case.target().config().base_url.origin().ascii_serialization();
    let body = json!({ "name": case.name("forged"), "scopes": [] });
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "cross-site"), ("origin", &own)],
        &[("origin", "https://elsewhere.example")],
        &[("origin", "null")],
        &[("referer", &own)],
    ] {
        for (method, path) in [(Method::POST, "/api-keys"), (Method::DELETE, &new.path())] {
            let mut call = with_cookie(&case, method, path, cookie);
            for (header, value) in headers {
                call = call.header(header, value);
            }
            let reply = call.json(&body).send().await?;
            check::with_context(json_text(&headers), reply.status(403))?;
        }
    }
    let list = new.session.get("/api-keys").await?;
    let entries = list.status(200)?.array("/data")?;
    let revoked = |one: &Value| new.is(one) && !one["revokedAt"].is_null();
    let done = entries.iter().find(|one| one["name"] == body["name"] || revoked(one));
    let expected = "nothing created or revoked by what was refused";
    list.ensure(done.is_none(), expected, json_text(&done))?;
    let call = with_cookie(&case, Method::POST, "/api-keys", cookie).header("origin", own);
    let body = json!({ "name": case.name("key"), "scopes": [] });
    call.json(&body).send().await?.status(201).map(drop)
}

async fn status(case: Case) -> Result {
    for wire in [case.wire(), case.read_only(), case.anonymous()] {
        for body in [json!({ "name": "n", "scopes": ["prompts:write"] }), json!({}), json!([])] {
            let reply = wire.post("/api-keys", body).await?;
            reply.status(401)?.equals("/data", json!(null))?.equals("/details", json!({}))?;
        }
        wire.post_empty("/api-keys").await?.status(401)?;
        wire.get("/api-keys").await?.status(401)?;
        wire.delete("/api-keys/p1").await?.status(401)?;
    }
    Ok(())
}

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
    for place in PLACES.iter() {
        compare(&reader, place, &owned, &own).await?;
    }
    Ok(())
}
