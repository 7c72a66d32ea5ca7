//! Several requests on one connection, and requests that come slowly, in pieces, ahead of their
//! turn, or not to their end.

use super::requests::{
    Case, Duration, Fixture, Method, RawRequest, Received, Result, Scenario, check, json_text,
    nothing_follows, scenario,
};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.length.chunks-behind" ["HT-02"] chunks_behind,
        "What chunks hide behind a length is carried out once at most" },
    scenario! { "raw.body.rubbish-behind" ["HT-06"] rubbish_behind,
        "What follows a body without being a request is not carried out and spoils nothing" },
    scenario! { "raw.body.on-get-and-delete" ["HT-22"] on_get_and_delete,
        "A body on GET and DELETE is no second request" },
    scenario! { "raw.host.absolute" ["HT-11"] whole_address,
        "A first line with the whole address is read as the path alone" },
    scenario! { "raw.host.http-1-0" ["HT-12"] http_1_0,
        "HTTP/1.0 is answered, also without Host, and the connection ends" },
    scenario! { "raw.method.override" ["HT-19"] override_ignored,
        "A method in a header does not take the place of the one in the first line" },
    scenario! { "raw.method.head" ["HT-17"] head,
        "The answer to HEAD has no body, so that the next answer can be read" },
    scenario! { "raw.pace.slow" ["HT-04"] slow,
        "A request that arrives slowly is taken whole, and others are served meanwhile" },
    scenario! { "raw.pace.breaks-off" ["HT-04"] breaks_off,
        "A request that breaks off anywhere makes nothing, and others are served" },
    scenario! { "raw.pace.ahead" ["HT-20"] three_ahead,
        "Requests sent ahead on one connection are answered in their order" },
    scenario! { "raw.pace.expect" ["HT-21"] continued,
        "A client that waits for 100 Continue gets it, or its refusal at once" },
    scenario! { "raw.pace.many-waiting" ["VA-21"] beside_many,
        "Fifty idle connections do not keep others from being served" },
];

async fn chunks_behind(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let request = fixture.typed().line("Content-Length: 4").line("Transfer-Encoding: chunked");
    let body = &fixture.body;
    let first = request.body(format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    let mut socket = fixture.send([first, fixture.whole_post()].concat()).await?;
    let created = match socket.next().await? {
        Received::Response(reply) => reply.status_in(200..=499)?.is_success(),
        Received::Closed => false,
    };
    nothing_follows(socket).await?;
    fixture.has_created(usize::from(created)).await
}

async fn rubbish_behind(case: Case) -> Result {
    for rubbish in ["}\r\n\r\n", "\0\0\0\0\r\n\r\n", "POST\r\n\r\n", "0\r\n\r\n"] {
        let fixture = Fixture::new(&case).await?;
        let request = [&fixture.whole_post(), rubbish.as_bytes()].concat();
        let mut socket = fixture.send(request).await?;
        check::with_context(json_text(&rubbish), socket.response().await?.status(201))?;
        nothing_follows(socket).await?;
        check::with_context(json_text(&rubbish), fixture.has_created(1).await)?;
    }
    Ok(())
}

async fn on_get_and_delete(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let hidden = String::from_utf8_lossy(&fixture.whole_post()).into_owned();
    let delete = fixture.request(&Method::DELETE, &case.vault().await?.path());
    for request in [fixture.get(), delete] {
        let mut socket = fixture.send(request.json(&hidden)).await?;
        socket.response().await?.status_in(200..=499)?;
        nothing_follows(socket).await?;
        fixture.has_created(0).await?;
    }
    Ok(())
}

async fn whole_address(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let line = format!("GET {}/vaults/{} HTTP/1.1", case.target().base_url(), fixture.vault);
    let mut socket = fixture.send(fixture.get().first(line).head()).await?;
    socket.response().await?.status(200)?.equals("/data/id", fixture.vault).map(drop)
}

async fn http_1_0(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let old = fixture.get().replace("HTTP/1.1", "HTTP/1.0");
    for request in [old.clone(), old.without("Host")] {
        let mut socket = fixture.send(request.head()).await?;
        let reply = socket.response().await?;
        let coding = reply.status(200)?.header("transfer-encoding");
        reply.ensure(coding.is_empty(), "no Transfer-Encoding", coding)?;
        if let Received::Response(second) = socket.next().await? {
            return Err(second.failure("one answer", "a second one"));
        }
    }
    Ok(())
}

async fn override_ignored(case: Case) -> Result {
    let (wire, vault) = (case.wire(), case.vault().await?);
    for name in ["x-http-method-override", "x-http-method", "x-method-override"] {
        let call = wire.call(Method::GET, &vault.path()).header(name, "DELETE");
        call.send().await?.status_in(200..=499)?;
        check::with_context(name, vault.read().await)?;
    }
    wire.get(&format!("{}?_method=DELETE", vault.path())).await?.status_in(200..=499)?;
    check::with_context("_method", vault.read().await).map(drop)
}

async fn head(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    for path in ["/prompts", "/vaults", "/vaults/0"] {
        let mut socket = fixture.send(fixture.request(&Method::HEAD, path).head()).await?;
        socket.expect_no_body();
        socket.response().await?.status_in(200..=499)?;
        socket.send(fixture.get().head()).await?;
        let next = socket.response().await?;
        check::with_context("after HEAD", next.equals("/data/id", fixture.vault))?;
    }
    Ok(())
}

/// Between two pieces; long enough to come in packets of their own.
const PAUSE: Duration = Duration::from_millis(40);
const PIECES: usize = 8;
/// After this what came of a request that broke off is there to be seen.
const SETTLED: Duration = Duration::from_millis(300);

/// All but the last byte comes in pieces with pauses, in which other requests are answered.
async fn slow(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let (request, mut socket) = (fixture.whole_post(), fixture.send(b"").await?);
    let (nearly, last) = request.split_at(request.len() - 1);
    for piece in nearly.chunks(nearly.len().div_ceil(PIECES)) {
        socket.send(piece).await?;
        tokio::time::sleep(PAUSE).await;
        fixture.has_created(0).await?;
    }
    socket.send(last).await?;
    socket.response().await?.status(201).map(drop)
}

async fn breaks_off(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let request = fixture.whole_post();
    let (length, step) = (request.len(), request.len() / 10);
    for end in (1..length).step_by(step).chain([length - 1]) {
        drop(fixture.send(&request[..end]).await?);
    }
    fixture.has_created(0).await?;
    // What a server makes of the last one takes it a moment.
    tokio::time::sleep(case.scaled(SETTLED)).await;
    fixture.has_created(0).await
}

async fn three_ahead(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let requests = [fixture.get().head(), fixture.whole_post(), fixture.get().head()];
    let mut socket = fixture.send(requests.concat()).await?;
    socket.response().await?.status(200)?.equals("/data/promptCount", 0)?;
    socket.response().await?.status(201)?.equals("/data/prompt", "A lighthouse")?;
    socket.response().await?.status(200)?.equals("/data/promptCount", 1).map(drop)
}

async fn continued(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let waits = |request: RawRequest| {
        let length = format!("Content-Length: {}", fixture.body.len());
        request.line(length).line("Expect: 100-continue").head()
    };
    let mut socket = fixture.send(waits(fixture.typed())).await?;
    let Received::Response(first) = socket.next_of_any_kind().await? else {
        return Err(socket.failure("an answer", "the end of the connection"));
    };
    first.status(100)?;
    socket.send(&fixture.body).await?;
    socket.response().await?.status(201)?;
    let nobody = fixture.typed().without("Authorization").line("Authorization: Bearer none");
    fixture.send(waits(nobody)).await?.response().await?.status(401).map(drop)
}

async fn beside_many(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let mut waiting = Vec::new();
    for number in 0..50 {
        let part = if number % 2 == 0 { &fixture.post().head()[..20] } else { &[] };
        waiting.push(fixture.send(part).await?);
    }
    // A client may have a connection from before; a new one is served too.
    let mut socket = fixture.send(fixture.get().head()).await?;
    socket.response().await?.status(200)?.equals("/data/id", fixture.vault)?;
    let created = fixture.case.prompts(4).await?;
    drop(waiting);
    check::equal("the prompts created meanwhile", &created.len(), &4)
}
