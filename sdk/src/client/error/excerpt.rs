//! A bounded piece of what came over the wire, fit for one line.

use std::fmt;

/// Bytes kept at most.
const BYTES_MAX: usize = 200;

/// How much of it comes after the place that is at fault.
const BYTES_AFTER: usize = 40;

/// A piece of text from outside: short, on one line, with a mark where it was cut.
#[derive(Debug, Clone)]
pub(in crate::client) struct Excerpt(String);

impl Excerpt {
    /// The beginning.
    pub(in crate::client) fn start(bytes: &[u8]) -> Self {
        Self::window(bytes, 0)
    }

    /// The surroundings of a place as `serde_json` names it: lines and columns count
    /// from 1, columns in bytes.
    pub(in crate::client) fn at(bytes: &[u8], line: usize, column: usize) -> Self {
        let before: usize = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .take(line.saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let end = (before + column).saturating_add(BYTES_AFTER).min(bytes.len());
        Self::window(bytes, end.saturating_sub(BYTES_MAX))
    }

    pub(in crate::client) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn window(bytes: &[u8], from: usize) -> Self {
        let to = bytes.len().min(from + BYTES_MAX);
        let piece = String::from_utf8_lossy(&bytes[from..to]);
        // A cut inside a character leaves a replacement character at the edge.
        let piece = if from > 0 { piece.trim_start_matches('\u{fffd}') } else { &piece };
        let piece = if to < bytes.len() { piece.trim_end_matches('\u{fffd}') } else { piece };
        let words: Vec<_> = piece
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        let (head, tail) = (cut(from > 0), cut(to < bytes.len()));
        Self(format!("{head}{}{tail}", words.join(" ")))
    }
}

const fn cut(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
