//! Faults in how a server reads HTTP itself (EN-10), and in what comes before any
//! field is looked at.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::fault::{Fault, Intercept, fault};
use crate::heads::{header, headers};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "wire.no-host" ["HT-10"] Intercept::Heads(|lines| {
        if header(lines, "host").is_none() {
            lines.push("Host: promptarium".into());
        }
    }),
        "A request without Host is carried out." },
    fault! { "wire.two-hosts" ["HT-10"] Intercept::Heads(|lines| only_first(lines, "host")),
        "Of two Host headers the first one counts." },
    fault! { "wire.any-host" ["HT-10"] Intercept::Heads(|lines| {
        if let Some((at, value)) = header(lines, "host")
            && value.contains([' ', '/', '[', '@'])
        {
            lines[at] = "Host: promptarium".into();
        }
    }),
        "Any value is a Host." },
    fault! { "wire.first-length" ["HT-01"]
        Intercept::Heads(|lines| only_first(lines, "content-length")),
        "Of two lengths the first one counts." },
    fault! { "wire.signed-length" ["HT-01"] Intercept::Heads(|lines| {
        if let Some((at, value)) = header(lines, "content-length")
            && let Some(digits) = value.strip_prefix('+')
        {
            lines[at] = format!("Content-Length: {digits}");
        }
    }),
        "A length with a plus sign is a length." },
    fault! { "wire.length-cut" ["HT-01"] Intercept::Heads(|lines| {
        if let Some((at, value)) = header(lines, "content-length") {
            let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
            lines[at] = format!("Content-Length: {}", &value[..end]);
        }
    }),
        "A length is read up to the first byte that is no digit." },
    fault! { "wire.coding-by-part" ["HT-05"] Intercept::Heads(|lines| {
        if let Some((at, value)) = header(lines, "transfer-encoding")
            && value.contains("chunked")
        {
            lines[at] = "Transfer-Encoding: chunked".into();
        }
    }),
        "Every coding with the word chunked in it is read as chunks." },
    fault! { "wire.coding-unknown" ["HT-03"] Intercept::Heads(|lines| {
        if let Some((at, value)) = header(lines, "transfer-encoding")
            && value != "chunked"
        {
            lines.remove(at);
        }
    }),
        "A coding that is not known is passed over, and the length counts as none." },
    fault! { "wire.space-before-colon" ["HT-07"] Intercept::Heads(|lines| {
        for line in lines.iter_mut().skip(1) {
            if let Some((name, value)) = line.split_once(':') {
                *line = format!("{}:{value}", name.trim_end());
            }
        }
    }),
        "Spaces between a header's name and its colon are passed over." },
    fault! { "wire.method-any-case" ["HT-15"] Intercept::Heads(|lines| {
        if let Some((method, rest)) = lines[0].split_once(' ') {
            lines[0] = format!("{} {rest}", method.to_uppercase());
        }
    }),
        "Methods in small letters are carried out." },
    fault! { "wire.method-unknown" ["HT-16"] Intercept::Heads(|lines| {
        if let Some(rest) = lines[0].strip_prefix("POSTX ") {
            lines[0] = format!("{} {rest}", Method::POST);
        }
    }),
        "A method that begins like POST is taken for it." },
    fault! { "wire.head-with-body" ["HT-17"] Intercept::Heads(|lines| {
        if let Some(rest) = lines[0].strip_prefix("HEAD ") {
            lines[0] = format!("{} {rest}", Method::GET);
        }
    }),
        "HEAD is answered like GET, with a body." },
    fault! { "wire.path-decoded" ["HT-24"] Intercept::Heads(|lines| {
        let decoded = percent_decode_str(&lines[0]).decode_utf8_lossy();
        if lines[0].contains('%') && !decoded.contains(['\r', '\n', '\0', '?']) {
            lines[0] = decoded.into_owned();
        }
    }),
        "Paths are decoded before they are split at their slashes." },
    fault! { "wire.path-cut" ["HT-24"] Intercept::Heads(|lines| {
        if let Some((path, rest)) = lines[0].clone().split_once('%')
            && !path.contains('?')
            && let Some((_, version)) = rest.rsplit_once(' ')
        {
            lines[0] = format!("{path} {version}");
        }
    }),
        "A path is read up to its first escaped byte." },
    fault! { "wire.http-1-0" ["HT-12"] Intercept::Heads(|lines| {
        if let Some(line) = lines[0].strip_suffix("HTTP/1.0") {
            lines[0] = format!("{line}HTTP/1.1");
        }
    }),
        "HTTP/1.0 is answered like HTTP/1.1, and the connection stays." },
    fault! { "wire.chunks-and-length" ["HT-02"] Intercept::Heads(|lines| {
        if header(lines, "transfer-encoding").is_some()
            && let Some((at, _)) = header(lines, "content-length")
        {
            lines.remove(at);
        }
    }),
        "Of chunks and a length the chunks count, and the connection goes on." },
    fault! { "wire.no-chunks" ["HT-03"] Intercept::Heads(|lines| {
        if let Some((at, _)) = header(lines, "transfer-encoding") {
            lines[at] = "Transfer-Encoding: unknown".into();
        }
    }),
        "A body in chunks is taken for one in an unknown coding." },
    fault! { "wire.ascii-only" ["HT-09"] Intercept::Heads(|lines| {
        if !lines.iter().all(|line| line.is_ascii()) {
            lines[0].insert(0, ' ');
        }
    }),
        "A head with a byte beyond ASCII is not understood." },
    fault! { "wire.whole-address" ["HT-11"] Intercept::Heads(|lines| {
        if lines[0].contains(" http://") {
            lines[0] = lines[0].replacen(" http://", " /http:/", 1);
        }
    }),
        "A first line with the whole address is not understood." },
];

/// Of several headers of one name the first counts.
fn only_first(lines: &mut Vec<String>, name: &str) {
    let places: Vec<_> = headers(lines, name).map(|(at, _)| at).collect();
    for at in places.iter().skip(1).rev() {
        lines.remove(*at);
    }
}
