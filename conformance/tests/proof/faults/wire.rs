//! Faults in how a server reads HTTP itself (chapter HT), and in what comes before any
//! field is looked at.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::fault::{Fault, How, fault};
use crate::heads::{header, headers};

pub(super) const ALL: &[Fault] = &[
    fault!(
        "wire.no-host",
        "A request without Host is carried out.",
        ["HT-10"],
        How::Heads(|lines| {
            if header(lines, "host").is_none() {
                lines.push("Host: promptarium".into());
            }
        })
    ),
    fault!(
        "wire.two-hosts",
        "Of two Host headers the first one counts.",
        ["HT-10"],
        How::Heads(|lines| only_one(lines, "host", Keep::First))
    ),
    fault!(
        "wire.any-host",
        "Any value is a Host.",
        ["HT-10"],
        How::Heads(|lines| {
            if let Some((at, value)) = header(lines, "host")
                && value.contains([' ', '/', '[', '@'])
            {
                lines[at] = "Host: promptarium".into();
            }
        })
    ),
    fault!(
        "wire.first-length",
        "Of two lengths the first one counts.",
        ["HT-01"],
        How::Heads(|lines| only_one(lines, "content-length", Keep::First))
    ),
    fault!(
        "wire.last-length",
        "Of two lengths the last one counts.",
        ["HT-01"],
        How::Heads(|lines| only_one(lines, "content-length", Keep::Last))
    ),
    fault!(
        "wire.signed-length",
        "A length with a plus sign is a length.",
        ["HT-01"],
        How::Heads(|lines| {
            if let Some((at, value)) = header(lines, "content-length")
                && let Some(digits) = value.strip_prefix('+')
            {
                lines[at] = format!("Content-Length: {digits}");
            }
        })
    ),
    fault!(
        "wire.length-cut",
        "A length is read up to the first byte that is no digit.",
        ["HT-01"],
        How::Heads(|lines| {
            if let Some((at, value)) = header(lines, "content-length") {
                let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
                lines[at] = format!("Content-Length: {}", &value[..end]);
            }
        })
    ),
    fault!(
        "wire.coding-by-part",
        "Every coding with the word chunked in it is read as chunks.",
        ["HT-05"],
        How::Heads(|lines| {
            if let Some((at, value)) = header(lines, "transfer-encoding")
                && value.contains("chunked")
            {
                lines[at] = "Transfer-Encoding: chunked".into();
            }
        })
    ),
    fault!(
        "wire.coding-unknown",
        "A coding that is not known is passed over, and the length counts as none.",
        ["HT-03"],
        How::Heads(|lines| {
            if let Some((at, value)) = header(lines, "transfer-encoding")
                && value != "chunked"
            {
                lines.remove(at);
            }
        })
    ),
    fault!(
        "wire.space-before-colon",
        "Spaces between a header's name and its colon are passed over.",
        ["HT-07", "HT-06"],
        How::Heads(|lines| {
            for line in lines.iter_mut().skip(1) {
                if let Some((name, value)) = line.split_once(':') {
                    *line = format!("{}:{value}", name.trim_end());
                }
            }
        })
    ),
    fault!(
        "wire.method-any-case",
        "Methods in small letters are carried out.",
        ["HT-15", "ER-01"],
        How::Heads(|lines| {
            if let Some((method, rest)) = lines[0].split_once(' ') {
                lines[0] = format!("{} {rest}", method.to_uppercase());
            }
        })
    ),
    fault!(
        "wire.method-unknown",
        "A method that begins like POST is taken for it.",
        ["HT-16"],
        How::Heads(|lines| {
            if let Some(rest) = lines[0].strip_prefix("POSTX ") {
                lines[0] = format!("{} {rest}", Method::POST);
            }
        })
    ),
    fault!(
        "wire.head-with-body",
        "HEAD is answered like GET, with a body.",
        ["HT-17"],
        How::Heads(|lines| {
            if let Some(rest) = lines[0].strip_prefix("HEAD ") {
                lines[0] = format!("{} {rest}", Method::GET);
            }
        })
    ),
    fault!(
        "wire.path-decoded",
        "Paths are decoded before they are split at their slashes.",
        ["HT-24", "HT-13"],
        How::Heads(|lines| {
            let decoded = percent_decode_str(&lines[0]).decode_utf8_lossy();
            if lines[0].contains('%') && !decoded.contains(['\r', '\n', '\0', '?']) {
                lines[0] = decoded.into_owned();
            }
        })
    ),
    fault!(
        "wire.path-cut",
        "A path is read up to its first escaped byte.",
        ["HT-24", "VA-26"],
        How::Heads(|lines| {
            if let Some((path, rest)) = lines[0].clone().split_once('%')
                && !path.contains('?')
                && let Some((_, version)) = rest.rsplit_once(' ')
            {
                lines[0] = format!("{path} {version}");
            }
        })
    ),
    fault!(
        "wire.http-1-0",
        "HTTP/1.0 is answered like HTTP/1.1, and the connection stays.",
        ["HT-12", "HT-10"],
        How::Heads(|lines| {
            if let Some(line) = lines[0].strip_suffix("HTTP/1.0") {
                lines[0] = format!("{line}HTTP/1.1");
            }
        })
    ),
    fault!(
        "wire.chunks-and-length",
        "Of chunks and a length the chunks count, and the connection goes on.",
        ["HT-02"],
        How::Heads(|lines| {
            if header(lines, "transfer-encoding").is_some()
                && let Some((at, _)) = header(lines, "content-length")
            {
                lines.remove(at);
            }
        })
    ),
    fault!(
        "wire.no-chunks",
        "A body in chunks is taken for one in an unknown coding.",
        ["HT-03"],
        How::Heads(|lines| {
            if let Some((at, _)) = header(lines, "transfer-encoding") {
                lines[at] = "Transfer-Encoding: unknown".into();
            }
        })
    ),
    fault!(
        "wire.ascii-only",
        "A head with a byte beyond ASCII is not understood.",
        ["HT-09"],
        How::Heads(|lines| {
            if !lines.iter().all(|line| line.is_ascii()) {
                lines[0].insert(0, ' ');
            }
        })
    ),
    fault!(
        "wire.whole-address",
        "A first line with the whole address is not understood.",
        ["HT-11"],
        How::Heads(|lines| {
            if lines[0].contains(" http://") {
                lines[0] = lines[0].replacen(" http://", " /http:/", 1);
            }
        })
    ),
];

/// Which of several headers of one name counts.
#[derive(Clone, Copy)]
enum Keep {
    First,
    Last,
}

fn only_one(lines: &mut Vec<String>, name: &str, keep: Keep) {
    let places: Vec<_> = headers(lines, name).map(|(at, _)| at).collect();
    let kept = match keep {
        Keep::First => places.first(),
        Keep::Last => places.last(),
    };
    for at in places.iter().rev().filter(|at| Some(*at) != kept) {
        lines.remove(*at);
    }
}
