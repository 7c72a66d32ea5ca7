//! Header lines that are not as they should be, or stand there twice.

use http::Method;

use crate::scenario::{http, reference};
use crate::{Case, Failure, Scenario, check};

use super::{Site, answered, bare, said};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.head.two-accounts" ["HT-23"] [HttpOne, OtherAccount] two_accounts,
        "A request under the keys of two accounts is answered as one of them or refused" },
    http! { "raw.head.space-before-colon" ["HT-07"] [HttpOne] space_before_colon,
        "A request with a space between a header's name and its colon is not carried out" },
    http! { "raw.head.folded" ["HT-08"] [HttpOne] folded,
        "A header that goes on in the next line is refused or read as one line" },
    http! { "raw.head.control-bytes" ["HT-09"] [HttpOne] control_bytes,
        "Control bytes in a header's value bring no fault of the server" },
    http! { "raw.head.no-header" ["HT-06"] [HttpOne] no_header,
        "Lines of a head that are no header, and first lines that are none, bring no fault of the \
         server" },
    reference! { "raw.head.status" ["HT-06"] [HttpOne] status,
        "A head that breaks the grammar is 400 without a body (S-80)" },
    reference! { "raw.head.bytes-beyond-ascii" ["HT-09"] [HttpOne] beyond_ascii,
        "Tabs and bytes beyond ASCII in a value are taken (S-80)" },
];

/// Whose vault is read: each account has one, and the answer may show only the
/// vault of the key it was answered under.
async fn two_accounts(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let theirs = crate::make::vault(&case, &case.other()).await?;
    let keys = [case.target().config.api_key.clone(), other_key(&case)];
    for order in [[0, 1], [1, 0]] {
        let draft = case.raw_request(&Method::GET, "/vaults").without("Authorization");
        let draft = order
            .iter()
            .fold(draft, |draft, at| draft.line(format!("Authorization: Bearer {}", keys[*at])));
        let mut socket = site.socket().await?;
        socket.send(draft.head()).await?;
        let reply = said(answered(socket.next().await?, &socket)?)?;
        if reply.status_code() == 200 {
            let listed = reply.integers("/data", "id")?;
            let both = listed.contains(&site.vault) && listed.contains(&theirs);
            reply.ensure(!both, "the vaults of one account", "those of both")?;
        }
    }
    Ok(())
}

fn other_key(case: &Case) -> String {
    case.target().config.other_api_key.clone().unwrap_or_default()
}

async fn space_before_colon(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for line in ["X-Odd : a", "X-Odd\t: a", "Content-Type : application/json"] {
        site.refuses(line, &site.post().line(line).json(&site.body())).await?;
    }
    Ok(())
}

async fn folded(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let key = &case.target().config.api_key;
    let within = site.get().without("Authorization");
    for draft in [
        site.get().line("X-Odd: a\r\n b"),
        site.get().line("X-Odd: a\r\n\tb"),
        within.line(format!("Authorization: Bearer\r\n {key}")),
    ] {
        let mut socket = site.socket().await?;
        socket.send(draft.head()).await?;
        answered(socket.next().await?, &socket)?;
    }
    site.made().await.map(drop)
}

async fn control_bytes(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for byte in [0, 1, 8, b'\r', 0x1b, 0x7f] {
        let line = [b"X-Odd: a".as_slice(), &[byte], b"b"].concat();
        let mut socket = site.socket().await?;
        socket.send(site.get().line(line).head()).await?;
        check::with_context(format!("byte {byte}"), answered(socket.next().await?, &socket))?;
    }
    site.made().await.map(drop)
}

/// Lines that are no header, each with what it is.
const NO_HEADERS: [(&str, &str); 4] = [
    ("no colon", "Odd"),
    ("no name", ": a"),
    ("a space in the name", "X Odd: a"),
    ("a bracket", "X(: a"),
];

/// First lines that are none, with a path to be put in.
const NO_FIRST_LINES: [(&str, &str); 5] = [
    ("two spaces", "GET  {} HTTP/1.1"),
    ("another protocol", "GET {} SPDY/1"),
    ("a version that is none", "GET {} HTTP/9.9"),
    ("a method that is none", "G@T {} HTTP/1.1"),
    ("no version", "GET {} "),
];

fn odd_heads(site: &Site) -> Vec<(&'static str, Vec<u8>)> {
    let first = String::from_utf8_lossy(&site.get().head()).into_owned();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let lines = NO_HEADERS.map(|(what, line)| (what, site.get().line(line).head()));
    let firsts = NO_FIRST_LINES
        .map(|(what, line)| (what, site.get().first(line.replace("{}", &path)).head()));
    lines.into_iter().chain(firsts).collect()
}

async fn no_header(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for (what, head) in odd_heads(&site) {
        let mut socket = site.socket().await?;
        socket.send(head).await?;
        check::with_context(what, answered(socket.next().await?, &socket))?;
    }
    site.made().await.map(drop)
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let mut heads = odd_heads(&site);
    heads.push(("a folded line", site.get().line("X-Odd: a\r\n b").head()));
    heads.push(("a space before the colon", site.get().line("X-Odd : a").head()));
    for byte in [0, 1, b'\r', 0x7f] {
        let line = [b"X-Odd: a".as_slice(), &[byte], b"b"].concat();
        heads.push(("a control byte", site.get().line(line).head()));
    }
    for (what, head) in heads {
        let mut socket = site.socket().await?;
        socket.send(head).await?;
        check::with_context(what, bare(&socket.next().await?, 400))?;
        check::with_context(what, super::over(socket).await)?;
    }
    Ok(())
}

async fn beyond_ascii(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for value in ["a\tb".as_bytes(), b"\xff\xfe", "h\u{e9}".as_bytes(), b""] {
        let line = [b"X-Odd: ".as_slice(), value].concat();
        let mut socket = site.socket().await?;
        socket.send(site.get().line(line).head()).await?;
        socket.reply().await?.status(200)?;
    }
    Ok(())
}
