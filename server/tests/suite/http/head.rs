//! The head of a request: malformed and repeated first lines, methods and headers; `Host` and
//! versions of HTTP (RFC 9112, sections 2.3 and 3.2); oversized heads; and paths and queries with
//! escapes and invalid UTF-8: an odd spelling of a path may be refused or read as the plain one; it
//! never reaches another resource.

use tokio::time::timeout;

use super::prelude::Expect::{Answered, Refused};
use super::prelude::*;
use promptarium_conformance::scenarios::core::errors::paths;
use promptarium_conformance::scenarios::shared::credentials::main_key;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.head.two-accounts" ["HT-23"] [OtherAccount] two_accounts,
        "A request under the keys of two accounts is answered as one of them or refused" },
    scenario! { "raw.head.space-before-colon" ["HT-07"] |case| each(case, Refused, spaces),
        "A request with a space between a header's name and its colon is not carried out" },
    scenario! { "raw.head.folded" ["HT-08"] |case| each(case, Answered, folded),
        "A header that goes on in the next line is refused or read as one line" },
    scenario! { "raw.head.control-bytes" ["HT-09"]
        |case| each(case, Answered, |fixture| {
            with_values(fixture, &[b"a\0b", b"a\x01b", b"a\x08b", b"a\rb", b"a\x1bb", b"a\x7fb"])
        }),
        "Control bytes in a header's value bring no server error" },
    scenario! { "raw.head.no-header" ["HT-06"] |case| each(case, Answered, odd_heads),
        "Lines of a head that are no header, and first lines that are none, bring no server error" },
    scenario! { "raw.host.faulty" ["HT-10"]
        |case| each(case, Refused, |it| faulty_hosts(it.post(), |post| post.json(&it.body))),
        "An HTTP/1.1 request without Host, with two, or with one that cannot be is not carried out" },
    scenario! { "raw.host.absolute" ["HT-11"] |case| unless_busy(case, whole_address),
        "A first line with the whole address is read as the path alone" },
    scenario! { "raw.host.http-1-0" ["HT-12"] http_1_0,
        "HTTP/1.0 is answered, and the connection ends unless it was asked to stay" },
    scenario! { "raw.method.case" ["HT-15"]
        |case| each(case, Refused, |fixture| posts_with(fixture, &["post", "Post", "pOST"])),
        "A method in small letters is another method: it is not carried out" },
    scenario! { "raw.method.unknown" ["HT-16"]
        |case| each(case, Refused, |it| posts_with(it, &["BREW", "POSTX", "MKCOL", "PROPFIND", "X"])),
        "Unknown methods are refused" },
    scenario! { "raw.method.override" ["HT-19"] override_ignored,
        "A method in a header does not take the place of the one in the first line" },
    scenario! { "raw.method.head" ["HT-17"] head,
        "The answer to HEAD has no body, so that the next answer can be read" },
    scenario! { "errors.method.head-and-options" ["HT-18"] head_and_options,
        "HEAD and OPTIONS on any path bring no server error and change nothing" },
    scenario! { "raw.path.odd-spelling" ["HT-24"] odd_spelling,
        "An oddly spelt path is refused or read as the plain one" },
    scenario! { "raw.query.odd-cursor" ["HT-24"] odd_cursor,
        "A cursor of odd bytes brings no server error" },
    scenario! { "raw.size.header" ["HT-13"] |case| each(case, Answered, large_headers),
        "Headers of 64 KiB and 1 MiB, and 1000 and 10000 of them, bring no server error" },
    scenario! { "raw.size.first-line" ["HT-14"]
        |case| each(case, Answered, |it| samples([64 * KIB, MIB], |size| long_query(it, *size))),
        "A query of 64 KiB and one of 1 MiB are taken or refused, and others are served" },
    scenario! { "raw.size.key" ["HT-13"] |case| each(case, Refused, long_key),
        "A key of 8 KiB is answered 401, or refused for its size" },
];

/// Each account has a vault, and the list may show only that of the key it was answered under.
async fn two_accounts(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let theirs = case.other_account().vault().await?.id;
    let config = case.target().config();
    let (own, other) = (&*config.api_key, config.other_api_key.as_deref().unwrap_or_default());
    let line = |key| format!("Authorization: Bearer {key}");
    for [first, second] in [[own, other], [other, own]] {
        let request = RawRequest::new(&case, &Method::GET, "/vaults").without("Authorization");
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
    samples(lines, |line| fixture.post().line(*line).json(&fixture.body))
}

/// Requests with each of these values of a header.
pub(crate) fn with_values(fixture: &Fixture, values: &[&[u8]]) -> Vec<Sample> {
    let lines = values.iter().map(|value| [b"X-Odd: ", *value].concat());
    let request =
        |line: Vec<u8>| (line.escape_ascii().to_string(), fixture.get().line(line).head());
    lines.map(request).collect()
}

fn folded(fixture: &Fixture) -> Vec<Sample> {
    let key = format!("Authorization: Bearer\r\n {}", main_key(&fixture.case));
    let in_the_key = fixture.get().without("Authorization").line(key).head();
    let in_values = with_values(fixture, &[b"a\r\n b", b"a\r\n\tb"]);
    [in_values, samples(["within the key"], |_| in_the_key.clone())].concat()
}

pub(crate) fn odd_heads(fixture: &Fixture) -> Vec<Sample> {
    let lines = ["Odd", ": a", "X Odd: a", "X(: a"];
    let lines = samples(lines, |line| fixture.get().line(*line).head());
    let in_first_line = |[from, to]: [&str; 2]| {
        (format!("{to:?} for {from:?}"), fixture.get().replace(from, to).head())
    };
    let protocols = ["SPDY/1", "HTTP/9.9", ""].map(|other| ["HTTP/1.1", other]);
    let methods = [["GET ", "GET  "], ["GET", "G@T"]].into_iter();
    lines.into_iter().chain(methods.chain(protocols).map(in_first_line)).collect()
}

/// A GET or a POST with each `Host` that cannot be, with none, and with two.
pub(crate) fn faulty_hosts(
    request: RawRequest,
    whole: impl Fn(RawRequest) -> Vec<u8>,
) -> Vec<Sample> {
    let faulty = ["Host: a b", "Host: a/b", "Host: [::1", "Host: a@b:1"];
    let mut all = samples(faulty, |line| whole(request.clone().without("Host").line(*line)));
    all.push(("no Host".to_owned(), whole(request.clone().without("Host"))));
    all.push(("two Hosts".to_owned(), whole(request.line("Host: other.example"))));
    all
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

pub(crate) fn posts_with(fixture: &Fixture, methods: &[&str]) -> Vec<Sample> {
    samples(methods, |method| fixture.post().replace("POST", method).json(&fixture.body))
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
    let mut seen = 0;
    for path in ["/prompts", "/vaults", "/vaults/0"] {
        let mut socket = fixture.send(RawRequest::new(&case, &Method::HEAD, path).head()).await?;
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

pub(crate) fn spellings(fixture: &Fixture) -> Vec<Sample> {
    // `%3` before a digit is that digit escaped.
    const FORMS: &str = "/%76aults/ID /vaults%2fID /vaults%2FID /vaults/%3ID /./vaults/ID \
        /vaults/../vaults/ID /vaults/%2e%2e/vaults/ID /%2e%2e/v1/vaults/ID /vaults/ID/. /vaults\\ID \
        /vaults/ID;a=b /vaults/ID%20 /vaults/+ID /vaults/0ID";
    let paths = FORMS.split(' ').map(|form| form.replace("ID", &fixture.vault.to_string()));
    samples(paths, |path| RawRequest::new(&fixture.case, &Method::GET, path).head())
}

async fn odd_spelling(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    for (path, request) in spellings(&fixture) {
        let received = fixture.send(request).await?.next().await?;
        let Received::Response(reply) = received else { continue };
        // Some servers send a client on to the plain spelling.
        if reply.is_success() {
            check::with_context(&path, reply.equals("/data/id", fixture.vault))?;
        } else if !matches!(reply.status_code(), 301 | 307 | 308) {
            check::with_context(&path, refused(Received::Response(reply)))?;
        }
    }
    Ok(())
}

/// Invalid UTF-8, invalid escapes and a zero byte.
pub(crate) const ODD_ESCAPES: [&str; 6] = ["%ff", "%c3%28", "%ed%a0%80", "%", "%zz", "%00"];

async fn odd_cursor(case: Case) -> Result {
    // A target that refuses everything proves nothing.
    case.wire().get("/prompts?limit=1").await?.status(200)?.array("/data")?;
    let cursors = |fixture: &Fixture| {
        let others = ["", "%20", "a%00b", "%f0%9f%98%80", "..%2f..", "'%22%3b--"];
        let cursors = ODD_ESCAPES.into_iter().chain(others);
        let paths = cursors.map(|odd| format!("/prompts?limit=1&cursor={odd}"));
        samples(paths, |path| RawRequest::new(&fixture.case, &Method::GET, path).head())
    };
    each(case, Answered, cursors).await
}

pub(crate) const KIB: usize = 1024;
pub(crate) const MIB: usize = 1024 * KIB;

pub(crate) fn many_headers(fixture: &Fixture, count: usize) -> Vec<u8> {
    let lines = (0..count).map(|number| format!("X-Odd-{number}: a"));
    lines.fold(fixture.get(), RawRequest::line).head()
}

pub(crate) fn long_query(fixture: &Fixture, length: usize) -> Vec<u8> {
    let path = format!("/vaults/{}?odd={}", fixture.vault, "a".repeat(length));
    RawRequest::new(&fixture.case, &Method::GET, &path).head()
}

pub(crate) fn long_header(fixture: &Fixture, length: usize) -> Vec<u8> {
    fixture.get().line(format!("X-Odd: {}", "a".repeat(length))).head()
}

fn large_headers(fixture: &Fixture) -> Vec<Sample> {
    let long = samples([64 * KIB, MIB], |length| long_header(fixture, *length));
    [long, samples([1000, 10_000], |count| many_headers(fixture, *count))].concat()
}

fn long_key(fixture: &Fixture) -> Vec<Sample> {
    let key = format!("{}{}", main_key(&fixture.case), "a".repeat(8 * KIB));
    let request = fixture.post().without("Authorization");
    let request = request.line(format!("Authorization: Bearer {key}"));
    vec![("a long key".to_owned(), request.json(&fixture.body))]
}

async fn head_and_options(case: Case) -> Result {
    let wire = case.wire();
    let (ids, all) = paths(&case).await?;
    let before = ids.state(&wire).await?;
    for path in all.iter().map(|endpoint| &endpoint.path).collect::<BTreeSet<_>>() {
        for method in [Method::HEAD, Method::OPTIONS] {
            let reply = wire.call(method, path).send().await?;
            let status = reply.status_code();
            reply.ensure(matches!(status, 200..=499 | 501), "no server error", status)?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}
