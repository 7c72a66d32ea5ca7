//! The rules that no fault breaks though scenarios cite them, each with its
//! reason. Rules without a scenario have theirs in the suite itself.

/// A rule and why there is no fault for it.
pub(crate) const UNPROVED: &[(&str, &str)] = &[(
    "KE-01",
    "Its scenarios look at the keys that a run is given, and a run with keys of another form has \
     been given other keys.",
)];

/// The scenarios that no fault turns red, each with the reason.
pub(crate) const UNSEEN: &[(&str, &str)] = &[(
    "keys.form.alphabet",
    "The keys of a run are given to it; a server that takes them as they are breaks nothing.",
)];
