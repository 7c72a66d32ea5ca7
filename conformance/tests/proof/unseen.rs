//! The scenarios that no fault turns red, each with the reason. Rules without a scenario have
//! theirs in the suite itself.

/// A scenario and why no fault turns it red.
pub(crate) const UNSEEN: &[(&str, &str)] = &[(
    "keys.form.alphabet",
    "The keys of a run are given to it; a server that takes them as they are breaks nothing.",
)];
