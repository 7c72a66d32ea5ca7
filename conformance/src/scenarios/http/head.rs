//! The head of a request: first lines, methods and headers that are not as they should be, or
//! twice; `Host` and versions of HTTP (RFC 9112, sections 2.3 and 3.2).

use tokio::time::timeout;

use super::raw::Expect::{Answered, Bodyless, Refused, Status};
use super::raw::{
    Fixture, Received, Sample, answer, answered, each, nothing_follows, sample, unless_busy,
};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    http! { "raw.head.two-accounts" ["HT-23"] [HttpOne, OtherAccount] two_accounts,
        "A request under the keys of two accounts is answered as one of them or refused" },
    http! { "raw.head.space-before-colon" ["HT-07"] [HttpOne] |case| each(case, Refused, spaces),
        "A request with a space between a header's name and its colon is not carried out" },
    http! { "raw.head.folded" ["HT-08"] [HttpOne] |case| each(case, Answered, folded),
        "A header that goes on in the next line is refused or read as one line" },
    http! { "raw.head.control-bytes" ["HT-09"] [HttpOne]
        |case| each(case, Answered, |fixture| with_bytes(fixture, &[0, 1, 8, b'\r', 0x1b, 0x7f])),
        "Control bytes in a header's value bring no server error" },
    http! { "raw.head.no-header" ["HT-06"] [HttpOne] |case| each(case, Answered, odd_heads),
        "Lines of a head that are no header, and first lines that are none, bring no server error" },
    http! { "raw.host.faulty" ["HT-10"] [HttpOne] |case| each(case, Refused, faulty_hosts),
        "An HTTP/1.1 request without Host, with two, or with one that cannot be is not carried out" },
    http! { "raw.host.absolute" ["HT-11"] [HttpOne] |case| unless_busy(case, whole_address),
        "A first line with the whole address is read as the path alone" },
    http! { "raw.host.http-1-0" ["HT-12"] [HttpOne] http_1_0,
        "HTTP/1.0 is answered, and the connection ends unless it was asked to stay" },
    http! { "raw.method.case" ["HT-15"] [HttpOne]
        |case| each(case, Refused, |fixture| posts_with(fixture, &["post", "Post", "pOST"])),
        "A method in small letters is another method: it is not carried out" },
    http! { "raw.method.unknown" ["HT-16"] [HttpOne]
        |case| each(case, Refused, |fixture| posts_with(fixture, UNKNOWN_METHODS)),
        "Unknown methods are refused" },
    http! { "raw.method.override" ["HT-19"] override_ignored,
        "A method in a header does not take the place of the one in the first line" },
    http! { "raw.method.head" ["HT-17"] [HttpOne] head,
        "The answer to HEAD has no body, so that the next answer can be read" },
];

/// Each account has a vault, and the list may show only that of the key it was answered under.
async fn two_accounts(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let theirs = case.other_account().vault().await?.id;
    let config = &case.target().config;
    let (own, other) = (&*config.api_key, config.other_api_key.as_deref().unwrap_or_default());
    let line = |key| format!("Authorization: Bearer {key}");
    for [first, second] in [[own, other], [other, own]] {
        let request = case.raw_request(&Method::GET, "/vaults").without("Authorization");
        let request = request.line(line(first)).line(line(second));
        let reply = answer(&mut fixture.send(request.head()).await?).await?;
        if reply.status_code() == 200 {
            let listed = reply.integers("/data", "id")?;
            let both = listed.contains(&fixture.vault) && listed.contains(&theirs);
            reply.ensure(!both, "the vaults of one account", "those of both")?;
        }
    }
    Ok(())
}

fn spaces(fixture: &Fixture) -> Vec<Sample> {
    let lines = ["X-Odd : a", "X-Odd\t: a", "Content-Type : application/json"];
    lines.map(|line| sample(line, fixture.post().line(line).json(&fixture.body()))).into()
}

pub(crate) fn odd_value(fixture: &Fixture, value: &[u8]) -> Sample {
    let line = [b"X-Odd: ", value].concat();
    sample(format!("the value {}", value.escape_ascii()), fixture.get().line(line).head())
}

fn folded(fixture: &Fixture) -> Vec<Sample> {
    let key = format!("Authorization: Bearer\r\n {}", fixture.case.target().config.api_key);
    let in_the_key = fixture.get().without("Authorization").line(key);
    vec![
        odd_value(fixture, b"a\r\n b"),
        odd_value(fixture, b"a\r\n\tb"),
        sample("within the key", in_the_key.head()),
    ]
}

pub(crate) fn with_bytes(fixture: &Fixture, bytes: &[u8]) -> Vec<Sample> {
    bytes.iter().map(|byte| odd_value(fixture, &[b'a', *byte, b'b'])).collect()
}

pub(crate) fn beyond_ascii(fixture: &Fixture) -> Vec<Sample> {
    let values = ["a\tb".as_bytes(), b"\xff\xfe", "h\u{e9}".as_bytes(), b""];
    values.map(|value| odd_value(fixture, value)).into()
}

pub(crate) fn odd_heads(fixture: &Fixture) -> Vec<Sample> {
    let lines = [
        ("no colon", "Odd"),
        ("no name", ": a"),
        ("a space in the name", "X Odd: a"),
        ("a bracket in the name", "X(: a"),
    ];
    let lines = lines.map(|(what, line)| sample(what, fixture.get().line(line).head()));
    let first_lines = [
        ("two spaces", "GET ", "GET  "),
        ("another protocol", "HTTP/1.1", "SPDY/1"),
        ("a version that is none", "HTTP/1.1", "HTTP/9.9"),
        ("a method that is none", "GET", "G@T"),
        ("no version", "HTTP/1.1", ""),
    ];
    let first_lines =
        first_lines.map(|(what, from, to)| sample(what, fixture.get().replace(from, to).head()));
    lines.into_iter().chain(first_lines).collect()
}

pub(crate) fn faulty_heads(fixture: &Fixture) -> Vec<Sample> {
    let mut heads = odd_heads(fixture);
    heads.push(odd_value(fixture, b"a\r\n b"));
    heads.push(sample("a space before the colon", fixture.get().line("X-Odd : a").head()));
    heads.extend(with_bytes(fixture, &[0, 1, b'\r', 0x7f]));
    heads
}

pub(crate) const OTHER_HOST: &str = "Host: other.example";
pub(crate) const FAULTY_HOSTS: [&str; 4] = ["Host: a b", "Host: a/b", "Host: [::1", "Host: a@b:1"];

fn faulty_hosts(fixture: &Fixture) -> Vec<Sample> {
    let faulty = FAULTY_HOSTS.map(|line| (line, fixture.post().without("Host").line(line)));
    let none = ("no Host", fixture.post().without("Host"));
    let two = ("two Hosts", fixture.post().line(OTHER_HOST));
    let all = faulty.into_iter().chain([none, two]);
    all.map(|(what, request)| sample(what, request.json(&fixture.body()))).collect()
}

async fn whole_address(fixture: Fixture) -> Result {
    let base = fixture.case.target().base_url();
    let line = format!("GET {base}/vaults/{} HTTP/1.1", fixture.vault);
    let mut socket = fixture.send(fixture.get().first(line).head()).await?;
    socket.response().await?.status(200)?.equals("/data/id", fixture.vault).map(drop)
}

async fn http_1_0(case: Case) -> Result {
    /// How soon the connection ends. Servers keep connections that may go on for longer.
    const ENDS: Duration = Duration::from_secs(5);
    let fixture = Fixture::new(&case).await?;
    let mut socket = fixture.send(fixture.get().replace("HTTP/1.1", "HTTP/1.0").head()).await?;
    let Received::Response(reply) = answered(socket.next().await?)? else { return Ok(()) };
    let coding = reply.header("transfer-encoding");
    reply.ensure(coding.is_empty(), "no Transfer-Encoding", coding)?;
    match timeout(case.scaled(ENDS), socket.next()).await {
        Ok(Ok(Received::Closed)) => Ok(()),
        Ok(Ok(Received::Response(second))) => Err(second.failure("one answer", "a second one")),
        Ok(Err(failure)) => Err(failure),
        Err(_) => Err(reply.failure("the end of the connection", "an open connection")),
    }
}

pub(crate) async fn status(case: Case) -> Result {
    each(case.clone(), Bodyless(400), faulty_heads).await?;
    each(case.clone(), Status(200), beyond_ascii).await?;
    each(case.clone(), Status(405), |fixture| posts_with(fixture, &["post", "BREW"])).await?;
    let fixture = Fixture::new(&case).await?;
    let faulty = FAULTY_HOSTS.map(|line| fixture.get().without("Host").line(line));
    let others = [fixture.get().without("Host"), fixture.get().line(OTHER_HOST)];
    for request in faulty.into_iter().chain(others) {
        let mut socket = fixture.send(request.head()).await?;
        let reply = socket.response().await?;
        let text = reply.status(400)?.string("/error")?;
        reply.ensure(text.contains("Host"), "an error that names Host", text)?;
        nothing_follows(socket).await?;
    }
    let old = fixture.get().replace("HTTP/1.1", "HTTP/1.0").without("Host");
    fixture.check(Status(200), &old.head()).await
}

const UNKNOWN_METHODS: &[&str] = &["BREW", "POSTX", "MKCOL", "PROPFIND", "X"];

pub(crate) fn posts_with(fixture: &Fixture, methods: &[&str]) -> Vec<Sample> {
    let request = |method| fixture.post().replace("POST", method).json(&fixture.body());
    methods.iter().map(|method| sample(*method, request(method))).collect()
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

pub(crate) async fn head(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let mut seen = 0;
    for path in ["/prompts", "/vaults", "/vaults/0"] {
        let mut socket = fixture.send(case.raw_request(&Method::HEAD, path).head()).await?;
        socket.expect_no_body();
        let Received::Response(reply) = socket.next().await? else { continue };
        reply.status_in(200..=499)?;
        socket.send(fixture.get().head()).await?;
        if let Received::Response(next) = answered(socket.next().await?)?
            && next.is_success()
        {
            check::with_context("the answer after HEAD", next.equals("/data/id", fixture.vault))?;
            seen += 1;
        }
    }
    if seen == 0 {
        return Err(Failure::skipped("no connection went on after the answer to HEAD"));
    }
    Ok(())
}
