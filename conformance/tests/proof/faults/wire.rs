//! Faults in how a server reads HTTP itself (EN-10), and in what comes before any
//! field is looked at.

use std::sync::Arc;

use percent_encoding::percent_decode_str;

use crate::heads::{first_head, header, headers};
use crate::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "wire.no-host" ["HT-10"] heads(|lines| {
        if header(lines, "host").is_none() {
            lines.push("Host: promptarium".into());
        }
    }),
        "A request without Host is carried out." },
    fault! { "wire.two-hosts" ["HT-10"] heads(|lines| only_first(lines, "host")),
        "Of two Host headers the first one counts." },
    fault! { "wire.any-host" ["HT-10"] value("host", |host| {
        host.contains([' ', '/', '[', '@']).then(|| "promptarium".into())
    }),
        "Any value is a Host." },
    fault! { "wire.first-length" ["HT-01"] heads(|lines| only_first(lines, "content-length")),
        "Of two lengths the first one counts." },
    fault! { "wire.signed-length" ["HT-01"]
        value("content-length", |length| length.strip_prefix('+').map(str::to_owned)),
        "A length with a plus sign is a length." },
    fault! { "wire.length-cut" ["HT-01"] value("content-length", |length| {
        Some(length.split(|c: char| !c.is_ascii_digit()).next()?.to_owned())
    }),
        "A length is read up to the first byte that is no digit." },
    fault! { "wire.coding-by-part" ["HT-05"] value("transfer-encoding", |coding| {
        coding.contains("chunked").then(|| "chunked".into())
    }),
        "Every coding with the word chunked in it is read as chunks." },
    fault! { "wire.coding-unknown" ["HT-03"] heads(|lines| {
        if let Some((at, value)) = header(lines, "transfer-encoding")
            && value != "chunked"
        {
            lines.remove(at);
        }
    }),
        "A coding that is not known is passed over, and the length counts as none." },
    fault! { "wire.space-before-colon" ["HT-07"] heads(|lines| {
        for line in lines.iter_mut().skip(1) {
            if let Some((name, value)) = line.split_once(':') {
                *line = format!("{}:{value}", name.trim_end());
            }
        }
    }),
        "Spaces between a header's name and its colon are passed over." },
    fault! { "wire.method-any-case" ["HT-15"] first_line(|line| {
        let (method, rest) = line.split_once(' ')?;
        Some(format!("{} {rest}", method.to_uppercase()))
    }),
        "Methods in small letters are carried out." },
    fault! { "wire.method-unknown" ["HT-16"]
        first_line(|line| Some(format!("POST {}", line.strip_prefix("POSTX ")?))),
        "A method that begins like POST is taken for it." },
    fault! { "wire.head-with-body" ["HT-17"]
        first_line(|line| Some(format!("GET {}", line.strip_prefix("HEAD ")?))),
        "HEAD is answered like GET, with a body." },
    fault! { "wire.path-decoded" ["HT-24"] first_line(|line| {
        let decoded = percent_decode_str(line).decode_utf8_lossy();
        let plain = line.contains('%') && !decoded.contains(['\r', '\n', '\0', '?']);
        plain.then(|| decoded.into_owned())
    }),
        "Paths are decoded before they are split at their slashes." },
    fault! { "wire.path-cut" ["HT-24"] first_line(|line| {
        let (path, rest) = line.split_once('%').filter(|(path, _)| !path.contains('?'))?;
        Some(format!("{path} {}", rest.rsplit_once(' ')?.1))
    }),
        "A path is read up to its first escaped byte." },
    fault! { "wire.http-1-0" ["HT-12"]
        first_line(|line| Some(format!("{}HTTP/1.1", line.strip_suffix("HTTP/1.0")?))),
        "HTTP/1.0 is answered like HTTP/1.1, and the connection stays." },
    fault! { "wire.chunks-and-length" ["HT-02"] heads(|lines| {
        if header(lines, "transfer-encoding").is_some()
            && let Some((at, _)) = header(lines, "content-length")
        {
            lines.remove(at);
        }
    }),
        "Of chunks and a length the chunks count, and the connection goes on." },
    fault! { "wire.no-chunks" ["HT-03"] value("transfer-encoding", |_| Some("unknown".into())),
        "A body in chunks is taken for one in an unknown coding." },
    fault! { "wire.ascii-only" ["HT-09"] heads(|lines| {
        if !lines.iter().all(|line| line.is_ascii()) {
            lines[0].insert(0, ' ');
        }
    }),
        "A head with a byte beyond ASCII is not understood." },
    fault! { "wire.whole-address" ["HT-11"]
        first_line(|line| line.contains(" http://").then(|| line.replacen(" http://", " /http:/", 1))),
        "A first line with the whole address is not understood." },
];

pub(super) fn heads(change: fn(&mut Vec<String>)) -> Intercept {
    Intercept::Stream(first_head(Arc::new(change)))
}

/// Reads the first header of this name as another value.
fn value(name: &'static str, read: fn(&str) -> Option<String>) -> Intercept {
    Intercept::Stream(first_head(Arc::new(move |lines: &mut Vec<String>| {
        let found = header(lines, name).and_then(|(at, value)| Some((at, read(value)?)));
        if let Some((at, value)) = found {
            lines[at] = format!("{name}: {value}");
        }
    })))
}

fn first_line(read: fn(&str) -> Option<String>) -> Intercept {
    Intercept::Stream(first_head(Arc::new(move |lines: &mut Vec<String>| {
        if let Some(line) = read(&lines[0]) {
            lines[0] = line;
        }
    })))
}

/// Of several headers of one name the first counts.
fn only_first(lines: &mut Vec<String>, name: &str) {
    let places: Vec<_> = headers(lines, name).map(|(at, _)| at).collect();
    for at in places.iter().skip(1).rev() {
        lines.remove(*at);
    }
}
