//! Texts of a target made safe and short for a reader.

use crate::exchange::Exchange;

/// A longer shell line helps no reader; JSON has the whole.
const CURL_SHOWN: usize = 4000;

/// Control characters could steer the reader's terminal and are forbidden in XML; marks of
/// direction could change the order of what is read.
pub(super) fn escape_control_chars(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            '\r' => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                shown.extend(character.escape_unicode());
            }
            _ if character.is_control() => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

pub(super) fn one_line(text: &str) -> String {
    escape_control_chars(&text.lines().collect::<Vec<_>>().join(" "))
}

/// The shell line of an exchange, or its length if it is too long to read.
pub(super) fn curl(exchange: &Exchange) -> Option<String> {
    exchange.curl.as_ref().map(|line| match line.len() {
        ..=CURL_SHOWN => escape_control_chars(line),
        length => format!("a line of {length} bytes; see the JSON report"),
    })
}

pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

/// `[text](address)` as its text: the addresses are those of the page of rules.
pub(super) fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (word, address) = (before.rsplit_once('['), after.split_once(')'));
        let (Some((before, word)), Some((_, after))) = (word, address) else { break };
        shown.push_str(before);
        shown.push_str(word);
        rest = after;
    }
    shown + rest
}

pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
