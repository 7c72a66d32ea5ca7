//! Text as a POSIX shell reads it, for the lines that reports hand out.

/// In single quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// As it may stand between double quotes.
pub(crate) fn for_double_quotes(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted
}
