//! Requests with one fault each, and what becomes of them: rows of a way to make them and of what is
//! expected. Where a body ends (RFC 9112, sections 6 and 7), first lines, methods and headers
//! (sections 2 to 5), oversized heads, and odd spellings of paths and queries.

use super::requests::Expect::{Ignored, Refused, RefusedBy, Status};
use super::requests::{
    ApiResponse, Expect, Fixture, Method, RawRequest, Result, Sample, Scenario, each, samples,
    scenario,
};
use crate::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.length.faulty" ["HT-01", "S-80"] |case| each(case, BODYLESS, faulty_lengths),
        "A request with two lengths that differ, or one that is no number, is 400 without a body" },
    scenario! { "raw.length.beside-chunks" ["HT-02"] |case| each(case, Refused, beside_chunks),
        "What a length hides behind the chunks of a body is no second request" },
    scenario! { "raw.chunks.bad-size" ["HT-06", "S-80"] |case| each(case, NAMES_BODY, faulty_chunks),
        "A chunk whose size is no number, too large, or not its length is 400 naming body" },
    scenario! { "raw.chunks.other-coding" ["HT-05", "S-80"] |case| each(case, BODYLESS, other_codings),
        "A body under a coding that does not end in chunks is 400 without a body" },
    scenario! { "raw.chunks.well-formed" ["HT-03"] |case| each(case, Status(201), well_formed),
        "A body in chunks with extensions and trailers is taken" },
    scenario! { "raw.body.too-short" ["HT-04"] |case| each(case, Ignored, too_short),
        "A request whose body breaks off before its length or its last chunk is not carried out" },
    scenario! { "raw.body.two-types" ["HT-23"] |case| each(case, RefusedBy(|it| it.status(415).map(drop)), two_types),
        "A request with two content types is 415" },
    scenario! { "raw.head.faulty" ["HT-06", "HT-07", "HT-08", "HT-09", "S-80"] |case| each(case, BODYLESS, faulty_heads),
        "A space before a colon, a folded line, control bytes, and lines that are no header are 400" },
    scenario! { "raw.head.odd-values" ["HT-09"] |case| each(case, Status(200), odd_values),
        "Tabs and bytes beyond ASCII in the value of a header are taken" },
    scenario! { "raw.host.faulty" ["HT-10", "S-80"] |case| each(case, RefusedBy(names_host), faulty_hosts),
        "An HTTP/1.1 request without Host, with two, or with one that cannot be is 400 naming Host" },
    scenario! { "raw.method.unknown" ["HT-15", "HT-16", "S-61"] |case| each(case, RefusedBy(|it| it.status(405).map(drop)), methods),
        "Unknown methods, and those in small letters, are 405" },
    scenario! { "raw.path.no-other-thing" ["VA-26"] |case| each(case, Refused, longer_deletions),
        "DELETE with something behind the id deletes nothing" },
    scenario! { "raw.path.as-written" ["S-80", "HT-24"] |case| each(case, Status(404), spellings),
        "An escaped path is not read as the plain one, in names, ids and slashes: 404" },
    scenario! { "raw.query.no-text" ["PG-04", "PR-17", "PR-18", "HT-24"] |case| each(case, Refused, odd_queries),
        "Queries that are no UTF-8 or escape nothing are out of range where there is a range" },
    scenario! { "raw.size.taken" ["HT-13", "HT-14", "S-80"] |case| each(case, Status(200), largest_heads),
        "A head of 64 KiB or of 90 lines, and an address of 60 KiB are taken" },
    scenario! { "raw.size.head" ["HT-13", "S-80"] |case| each(case, RefusedBy(|it| bodyless(it, 431)), larger_heads),
        "A head of 1 MiB or of more than 100 lines is 431" },
    scenario! { "raw.size.address" ["HT-14", "S-80"] |case| each(case, RefusedBy(|it| bodyless(it, 414)), |it| vec![long_query(it, 70)]),
        "A longer address is 414" },
    scenario! { "raw.size.key" ["HT-13"] |case| each(case, Refused, long_key),
        "A key of 8 KiB is answered 401, or refused for its size" },
];

/// 400 without a body, as hyper refuses what it cannot read.
const BODYLESS: Expect = RefusedBy(|reply| bodyless(reply, 400));
const NAMES_BODY: Expect = RefusedBy(|reply| reply.status(400)?.string("/details/body").map(drop));

fn bodyless(reply: &ApiResponse, status: u16) -> Result {
    let length = format!("{} bytes", reply.body().len());
    reply.status(status)?.ensure(reply.body().is_empty(), "no body", length).map(drop)
}

const CHUNKED: &str = "Transfer-Encoding: chunked";

fn one_chunk(Fixture { body, .. }: &Fixture) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

fn faulty_lengths(fixture: &Fixture) -> Vec<Sample> {
    let right = fixture.body.len();
    let (less, more, far) = (right - 1, right + 1, right + 100);
    let values = format!(
        "+{right};-{right};0x{right:x};{right}.0;{right} {right};{right}, {more};{right}x;x;\
         99999999999999999999999;18446744073709551616;{right}\r\nContent-Length: {less};\
         {less}\r\nContent-Length: {right};{right}\r\nContent-Length: {far}"
    );
    samples(values.split(';'), |value| {
        fixture.typed().line(format!("Content-Length: {value}")).body(&fixture.body)
    })
}

fn beside_chunks(fixture: &Fixture) -> Vec<Sample> {
    let body = [b"0\r\n\r\n".to_vec(), fixture.whole_post()].concat();
    let length = format!("Content-Length: {}", body.len());
    let lines = [format!("{CHUNKED}\r\n{length}"), format!("{length}\r\n{CHUNKED}")];
    samples(lines, |lines| fixture.typed().line(lines.as_str()).body(&body))
}

fn faulty_chunks(fixture: &Fixture) -> Vec<Sample> {
    let body = &fixture.body;
    let (length, less, more) = (body.len(), body.len() - 3, body.len() + 1);
    let sizes = format!(
        "zz;-1;;\u{a0};10000000000000000000000000000001a;1 a;g;0x1a;0x{length:x};+{length:x};\
         1{length:016x};{less:x};{more:x}"
    );
    samples(sizes.split(';'), |size| {
        fixture.typed().line(CHUNKED).body(format!("{size}\r\n{body}\r\n0\r\n\r\n"))
    })
}

fn other_codings(fixture: &Fixture) -> Vec<Sample> {
    let codings = ["xchunked", "chunked, x-unknown", "x-unknown", "chunked, identity"];
    let request = |coding: &_| fixture.typed().line(format!("Transfer-Encoding: {coding}"));
    samples(codings, |coding| request(coding).body(one_chunk(fixture)))
}

/// A body in chunks of a few bytes, some with extensions, and lines after them.
fn well_formed(fixture: &Fixture) -> Vec<Sample> {
    let mut chunks = String::new();
    for (at, piece) in fixture.body.as_bytes().chunks(7).enumerate() {
        let extension = ["", ";a", ";a=b", ";a=\"b c\""][at % 4];
        let (zeros, piece) = (["", "00"][at % 2], String::from_utf8_lossy(piece));
        chunks.push_str(&format!("{zeros}{:X}{extension}\r\n{piece}\r\n", piece.len()));
    }
    chunks.push_str("0\r\nX-After: all\r\n\r\n");
    samples(["small chunks"], |_| fixture.typed().line(CHUNKED).body(&chunks))
}

fn too_short(fixture: &Fixture) -> Vec<Sample> {
    let length = |missing| format!("Content-Length: {}", fixture.body.len() + missing);
    let by_length = samples([1, 100, 100_000], |missing| {
        fixture.typed().line(length(*missing)).body(&fixture.body)
    });
    let whole = one_chunk(fixture);
    let by_chunks = samples([2, 4, 5, 6, 20], |missing| {
        fixture.typed().line(CHUNKED).body(&whole[..whole.len() - missing])
    });
    [by_length, by_chunks].concat()
}

fn two_types(fixture: &Fixture) -> Vec<Sample> {
    let (json, text) = ("application/json", "text/plain");
    let pairs = [[json, json], [json, text], [text, json]];
    let lines = pairs.map(|pair| pair.map(|kind| format!("Content-Type: {kind}")).join("\r\n"));
    let length = format!("Content-Length: {}", fixture.body.len());
    samples(lines, |lines| {
        fixture.post().line(lines.as_str()).line(length.as_str()).body(&fixture.body)
    })
}

fn with_values(fixture: &Fixture, values: &[&[u8]]) -> Vec<Sample> {
    let lines = values.iter().map(|value| [b"X-Odd: ", *value].concat());
    let request =
        |line: Vec<u8>| (line.escape_ascii().to_string(), fixture.get().line(line).head());
    lines.map(request).collect()
}

fn faulty_heads(fixture: &Fixture) -> Vec<Sample> {
    let spaces = ["X-Odd : a", "X-Odd\t: a", "Content-Type : application/json"];
    let spaces = samples(spaces, |line| fixture.post().line(*line).json(&fixture.body));
    let values: [&[u8]; 8] =
        [b"a\r\n b", b"a\r\n\tb", b"a\0b", b"a\x01b", b"a\x08b", b"a\rb", b"a\x1bb", b"a\x7fb"];
    let lines = ["Odd", ": a", "X Odd: a", "X(: a"];
    let lines = samples(lines, |line| fixture.get().line(*line).head());
    let in_first_line = |[from, to]: [&str; 2]| {
        (format!("{to:?} for {from:?}"), fixture.get().replace(from, to).head())
    };
    let protocols = ["SPDY/1", "HTTP/9.9", ""].map(|other| ["HTTP/1.1", other]);
    let methods = [["GET ", "GET  "], ["GET", "G@T"]].into_iter();
    let first = methods.chain(protocols).map(in_first_line).collect();
    [spaces, with_values(fixture, &values), lines, first].concat()
}

fn odd_values(fixture: &Fixture) -> Vec<Sample> {
    with_values(fixture, &[b"a\tb", b"\xff\xfe", b"h\xc3\xa9", b""])
}

/// Each `Host` that cannot be, none, and two.
fn faulty_hosts(fixture: &Fixture) -> Vec<Sample> {
    let faulty = ["Host: a b", "Host: a/b", "Host: [::1", "Host: a@b:1", "X-Host: none"];
    let mut all =
        samples(faulty, |line| fixture.post().without("Host").line(*line).json(&fixture.body));
    let two = fixture.post().line("Host: other.example");
    all.push(("two Hosts".to_owned(), two.json(&fixture.body)));
    all
}

fn names_host(reply: &ApiResponse) -> Result {
    let text = reply.status(400)?.string("/error")?;
    reply.ensure(text.contains("Host"), "an error that names Host", text).map(drop)
}

fn methods(fixture: &Fixture) -> Vec<Sample> {
    let methods = ["post", "Post", "pOST", "BREW", "POSTX", "MKCOL", "PROPFIND", "X"];
    samples(methods, |method| fixture.post().replace("POST", method).json(&fixture.body))
}

fn longer_deletions(fixture: &Fixture) -> Vec<Sample> {
    let behind = "%00 % %zz %ff %0d%0a %2f %2fprompts %3f .0 e0 ,1 %c0%80".split(' ');
    let paths = behind.map(|behind| format!("/vaults/{}{behind}", fixture.vault));
    samples(paths, |path| fixture.request(&Method::DELETE, path).head())
}

fn spellings(fixture: &Fixture) -> Vec<Sample> {
    // `%3` before a digit is that digit escaped.
    const FORMS: &str = "/%76aults/ID /vaults%2fID /vaults%2FID /vaults/%3ID /./vaults/ID \
        /vaults/../vaults/ID /vaults/%2e%2e/vaults/ID /%2e%2e/v1/vaults/ID /vaults/ID/. /vaults\\ID \
        /vaults/ID;a=b /vaults/ID%20 /vaults/+ID /vaults/0ID";
    let paths = FORMS.split(' ').map(|form| form.replace("ID", &fixture.vault.to_string()));
    samples(paths, |path| fixture.request(&Method::GET, path).head())
}

/// Invalid UTF-8, invalid escapes and a zero byte.
fn odd_queries(fixture: &Fixture) -> Vec<Sample> {
    const ODD: [&str; 6] = ["%ff", "%c3%28", "%ed%a0%80", "%", "%zz", "%00"];
    let fields = ["limit=5", "vaultId=1", "type=text", "limit=1&cursor=a"].into_iter();
    let paths = fields.flat_map(|field| ODD.map(|odd| format!("/prompts?{field}{odd}")));
    samples(paths, |path| fixture.request(&Method::GET, path).head())
}

const KIB: usize = 1024;

fn many_headers(fixture: &Fixture, count: usize) -> Sample {
    let lines = (0..count).map(|number| format!("X-Odd-{number}: a"));
    (format!("{count} lines"), lines.fold(fixture.get(), RawRequest::line).head())
}

fn long_header(fixture: &Fixture, kib: usize) -> Sample {
    let line = format!("X-Odd: {}", "a".repeat(kib * KIB));
    (format!("a line of {kib} KiB"), fixture.get().line(line).head())
}

fn long_query(fixture: &Fixture, kib: usize) -> Sample {
    let path = format!("/vaults/{}?odd={}", fixture.vault, "a".repeat(kib * KIB));
    (format!("a query of {kib} KiB"), fixture.request(&Method::GET, &path).head())
}

fn largest_heads(fixture: &Fixture) -> Vec<Sample> {
    vec![long_header(fixture, 64), many_headers(fixture, 90), long_query(fixture, 60)]
}

fn larger_heads(fixture: &Fixture) -> Vec<Sample> {
    vec![long_header(fixture, KIB), many_headers(fixture, 101), many_headers(fixture, 10_000)]
}

fn long_key(fixture: &Fixture) -> Vec<Sample> {
    let key = format!("{}{}", main_key(&fixture.case), "a".repeat(8 * KIB));
    let request = fixture.post().without("Authorization");
    let request = request.line(format!("Authorization: Bearer {key}"));
    vec![("a long key".to_owned(), request.json(&fixture.body))]
}
