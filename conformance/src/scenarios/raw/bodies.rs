//! Bodies that are shorter or longer than they say, and what comes behind them.

use http::Method;
use serde_json::json;

use crate::scenario::{http, reference};
use crate::{Case, Failure, Scenario, check, make};

use super::{Site, answered, over, said, served, with};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.body.too-short" ["HT-04"] [HttpOne] too_short,
        "A request whose body breaks off before its length is not carried out" },
    http! { "raw.body.rubbish-behind" ["HT-06"] [HttpOne] rubbish_behind,
        "What follows a body without being a request is not carried out and spoils nothing" },
    http! { "raw.body.on-get-and-delete" ["HT-22"] [HttpOne] on_get_and_delete,
        "A body on GET and DELETE is passed over or refused, and is no second request" },
    http! { "raw.body.two-types" ["HT-23"] [HttpOne] two_types,
        "A request with two content types is carried out whole or not at all" },
    reference! { "raw.body.equal-types" ["EN-02"] equal_types,
        "application/json is the same type in capitals and with a charset" },
    http! { "raw.body.other-types" ["HT-24"] other_types,
        "A body of another type or of none is carried out whole or refused" },
    reference! { "raw.body.two-types-status" ["EN-02"] [HttpOne] two_types_status,
        "Two content types are 415, even if they are equal (S-80)" },
];

async fn too_short(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let body = site.body();
    for more in [1, 100, 100_000] {
        let length = format!("Content-Length: {}", body.len() + more);
        let mut socket = site.socket().await?;
        socket.send(with(&site.typed().line(length), &body)).await?;
        let what = format!("{more} bytes are missing");
        check::with_context(&what, over(socket).await)?;
        check::with_context(&what, site.is_empty().await)?;
    }
    // The client that has gone without a word leaves nothing either.
    let mut socket = site.socket().await?;
    let length = format!("Content-Length: {}", body.len() + 1);
    socket.send(with(&site.typed().line(length), &body)).await?;
    drop(socket);
    site.is_empty().await
}

async fn rubbish_behind(case: Case) -> Result<(), Failure> {
    for rubbish in ["}\r\n\r\n", "\0\0\0\0\r\n\r\n", "POST\r\n\r\n", "0\r\n\r\n"] {
        let made = served(&case, |site| made_before(site, rubbish)).await;
        check::with_context(format!("{rubbish:?}"), made)?;
    }
    Ok(())
}

async fn made_before(site: Site, rubbish: &str) -> Result<(), Failure> {
    let mut socket = site.socket().await?;
    let request = site.post().json(&site.body());
    socket.send([request, rubbish.as_bytes().to_vec()].concat()).await?;
    socket.reply().await?.status(201)?;
    over(socket).await?;
    check::equal("the prompts made", &site.made().await?, &1)
}

async fn on_get_and_delete(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let hidden = String::from_utf8_lossy(&site.post().json(&site.body())).into_owned();
    let spare = make::vault(&case, &case.wire()).await?;
    let delete = case.raw_request(&Method::DELETE, &format!("/vaults/{spare}"));
    for draft in [site.get(), delete] {
        let mut socket = site.socket().await?;
        socket.send(draft.json(&hidden)).await?;
        said(answered(socket.next().await?, &socket)?)?;
        over(socket).await?;
        site.is_empty().await?;
    }
    Ok(())
}

const PAIRS: [[&str; 2]; 3] = [
    ["application/json", "application/json"],
    ["application/json", "text/plain"],
    ["text/plain", "application/json"],
];

async fn two_types(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let mut made = 0;
    for types in PAIRS {
        let reply = sent_under(&site, types).await?;
        made += usize::from(reply.status_code() < 300);
        check::equal("the prompts made", &site.made().await?, &made)?;
    }
    Ok(())
}

async fn two_types_status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for types in PAIRS {
        sent_under(&site, types).await?.status(415)?;
    }
    site.is_empty().await
}

async fn sent_under(site: &Site, types: [&str; 2]) -> Result<crate::wire::Reply, Failure> {
    let body = site.body();
    let draft =
        types.iter().fold(site.post(), |draft, one| draft.line(format!("Content-Type: {one}")));
    let mut socket = site.socket().await?;
    socket.send(with(&draft.line(format!("Content-Length: {}", body.len())), &body)).await?;
    said(answered(socket.next().await?, &socket)?)
}

async fn equal_types(case: Case) -> Result<(), Failure> {
    for same in
        ["application/json; charset=utf-8", "APPLICATION/JSON", "Application/Json;Charset=UTF-8"]
    {
        let body = json!({ "name": case.name("vault") }).to_string();
        let call = case.wire().call(Method::POST, "/vaults").body(same, body);
        check::with_context(same, call.send().await?.status(201))?;
    }
    Ok(())
}

async fn other_types(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let path = format!("/vaults/{vault}");
    for other in [None, Some("text/plain"), Some("application/problem+json"), Some("x"), Some(";")]
    {
        let name = case.name("named");
        let call = case.wire().call(Method::PATCH, &path);
        let body = json!({ "name": name, "description": name }).to_string();
        let call = match other {
            Some(other) => call.body(other, body),
            None => call.untyped_body(body),
        };
        let reply = call.send().await?;
        let done = reply.status_code() == 200;
        reply.ensure(done || reply.status_code() / 100 == 4, "200 or 4xx", reply.status_code())?;
        let now = case.wire().get(&path).await?;
        let named = now.string("/data/name")? == name;
        let described = now.at("/data/description")?.as_str() == Some(name.as_str());
        now.ensure(
            named == done && described == done,
            format!("{other:?}: all or nothing"),
            "other",
        )?;
    }
    Ok(())
}
