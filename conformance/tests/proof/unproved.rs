//! The rules that no fault breaks though scenarios cite them, each with its
//! reason. Rules without a scenario have theirs in the suite itself.

/// A rule and why there is no fault for it.
pub(crate) const UNPROVED: &[(&str, &str)] = &[(
    "KE-01",
    "Its scenarios look at the keys that a run is given, and a run with keys of another form has \
     been given other keys.",
)];
