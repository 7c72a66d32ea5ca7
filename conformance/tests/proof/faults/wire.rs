//! Faults in how a server reads HTTP itself (EN-10), and in what comes before any
//! field is looked at.

use std::sync::Arc;

use crate::heads::{first_head, header};
use crate::prelude::*;

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    // Any value is a Host.
    fault! { "wire.any-host" ["HT-10"] value("host", |host| {
        host.contains([' ', '/', '[', '@']).then(|| "promptarium".into())
    }) },
    fault! { "wire.signed-length" ["HT-01"]
        value("content-length", |length| length.strip_prefix('+').map(str::to_owned)) },
    // Every coding with the word chunked in it is read as chunks.
    fault! { "wire.coding-by-part" ["HT-05"] value("transfer-encoding", |coding| {
        coding.contains("chunked").then(|| "chunked".into())
    }) },
    // Spaces between a header's name and its colon are passed over.
    fault! { "wire.space-before-colon" ["HT-07"] heads(|lines| {
        for line in lines.iter_mut().skip(1) {
            if let Some((name, value)) = line.split_once(':') {
                *line = format!("{}:{value}", name.trim_end());
            }
        }
    }) },
    // Methods in small letters are carried out.
    fault! { "wire.method-any-case" ["HT-15"] first_line(|line| {
        let (method, rest) = line.split_once(' ')?;
        Some(format!("{} {rest}", method.to_uppercase()))
    }) },
    fault! { "wire.method-unknown" ["HT-16"]
        first_line(|line| Some(format!("POST {}", line.strip_prefix("POSTX ")?))) },
    fault! { "wire.head-with-body" ["HT-17"]
        first_line(|line| Some(format!("GET {}", line.strip_prefix("HEAD ")?))) },
    // A path is read up to its first escaped byte.
    fault! { "wire.path-cut" ["HT-24"] first_line(|line| {
        let (path, rest) = line.split_once('%').filter(|(path, _)| !path.contains('?'))?;
        Some(format!("{path} {}", rest.rsplit_once(' ')?.1))
    }) },
    fault! { "wire.http-1-0" ["HT-12"]
        first_line(|line| Some(format!("{}HTTP/1.1", line.strip_suffix("HTTP/1.0")?))) },
    // Of chunks and a length the chunks count, and the connection goes on.
    fault! { "wire.chunks-and-length" ["HT-02"] heads(|lines| {
        if header(lines, "transfer-encoding").is_some()
            && let Some((at, _)) = header(lines, "content-length")
        {
            lines.remove(at);
        }
    }) },
    fault! { "wire.no-chunks" ["HT-03"] value("transfer-encoding", |_| Some("unknown".into())) },
    fault! { "wire.whole-address" ["HT-11"]
        first_line(|line| line.contains(" http://").then(|| line.replacen(" http://", " /http:/", 1))) },
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
