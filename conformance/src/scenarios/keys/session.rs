//! What a browser session is (S-81): its cookie, the code it begins with, and the requests that
//! it is good for.

use http::header::SET_COOKIE;

use super::NewKey;
use crate::case::session::send_code;
use crate::scenarios::auth::main_bearer;
use crate::scenarios::endpoints::{self, Ids};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "keys.session.cookie" ["KE-05"] ("S-81") [Session] cookie,
        "The cookie is HttpOnly, SameSite=Lax and for every path, over HTTPS also Secure and \
         bound to the host" },
    reference! { "keys.session.code-once" ["KE-05"] ("S-81") [Session] code_once,
        "A sign-in code that was used is 401 and sets no cookie" },
    reference! { "keys.session.other-cookies" ["KE-05"] ("S-81") [Session] other_cookies,
        "A cookie that is not exactly that of the session, and the right one twice, are 401" },
    reference! { "keys.session.not-beside-a-key" ["KE-05"] ("S-46") [Session] not_beside_a_key,
        "With an API key beside the session all calls on keys are 401" },
    reference! { "keys.session.no-key" ["AU-02"] ("S-81") [Session] no_key,
        "A session is no key: every endpoint of prompts and vaults is 401" },
    reference! { "keys.session.cross-site" ["KE-05"] ("S-81") [Session] cross_site,
        "A request that no page of the target's own sends is 403 and does nothing" },
    reference! { "keys.session.own-origin" ["KE-05"] ("S-81") [Session] own_origin,
        "Without Sec-Fetch-Site the target's own Origin is enough" },
];

async fn cookie(case: Case) -> Result {
    let session = case.signed_in().await?;
    let sign_in = ApiResponse::of(&session.sign_in)?;
    // There may be a second one for the port.
    let lines: Vec<_> = sign_in.headers().get_all(SET_COOKIE).iter().collect();
    sign_in.ensure(!lines.is_empty(), "a cookie", "none")?;
    let secure = case.target().config.base_url.scheme() == "https";
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

async fn code_once(case: Case) -> Result {
    case.session().await?;
    let reply = send_code(&case).await?;
    let set = reply.status(401)?.headers().contains_key(SET_COOKIE);
    reply.ensure(!set, "no cookie", "a Set-Cookie header").map(drop)
}

/// A call with this cookie and nothing else that a browser would add.
fn with_cookie(case: &Case, method: Method, path: &str, cookie: &str) -> Call {
    case.anonymous().call(method, path).header("cookie", cookie)
}

async fn other_cookies(case: Case) -> Result {
    let cookie = &case.signed_in().await?.cookie;
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
    Ok(())
}

async fn not_beside_a_key(case: Case) -> Result {
    let new = NewKey::make(&case, &[]).await?;
    let body = json!({ "name": case.name("key"), "scopes": [] });
    let all = "/api-keys";
    for (method, path) in [(Method::POST, all), (Method::GET, all), (Method::DELETE, &new.path())] {
        let call = new.session.call(method, path).header("authorization", main_bearer(&case));
        call.json(&body).send().await?.status(401)?;
    }
    Ok(())
}

async fn no_key(case: Case) -> Result {
    let session = case.session().await?;
    let ids = Ids::make(&case).await?;
    for endpoint in endpoints::all(&case, &ids) {
        endpoint.send(&session).await?.status(401)?;
    }
    Ok(())
}

async fn cross_site(case: Case) -> Result {
    let new = NewKey::make(&case, &[]).await?;
    let cookie = &case.signed_in().await?.cookie;
    let own = case.target().config.base_url.origin().ascii_serialization();
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
    let done = entries
        .iter()
        .find(|one| one["name"] == body["name"] || (new.is(one) && !one["revokedAt"].is_null()));
    let expected = "nothing created or revoked by what was refused";
    list.ensure(done.is_none(), expected, json_text(&done)).map(drop)
}

async fn own_origin(case: Case) -> Result {
    let cookie = &case.signed_in().await?.cookie;
    let own = case.target().config.base_url.origin().ascii_serialization();
    let call = with_cookie(&case, Method::POST, "/api-keys", cookie).header("origin", own);
    let body = json!({ "name": case.name("key"), "scopes": [] });
    call.json(&body).send().await?.status(201).map(drop)
}
