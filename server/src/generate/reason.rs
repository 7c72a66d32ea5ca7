//! Reasons that come from a provider: bounded and never empty, since they go into
//! answers and are kept with a job.

const CHARS_MAX: usize = 1000;

/// A reason as far as it can be shown.
pub(super) fn shown(reason: &str) -> String {
    // Some stores cannot hold U+0000.
    let plain = reason.trim().chars().filter(|c| *c != '\0').take(CHARS_MAX).collect::<String>();
    if plain.is_empty() { "it gave no reason".to_owned() } else { plain }
}
