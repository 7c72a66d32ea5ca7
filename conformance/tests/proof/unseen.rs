//! The scenarios that no fault turns red, and those that only a fault of another rule does. Rules
//! without a scenario have their reasons in the suite itself.

/// A scenario and why no fault turns it red.
pub(crate) const UNSEEN: &[(&str, &str)] = &[
    (
        "keys.form.alphabet",
        "The keys of a run are given to it; a server that takes them as they are breaks nothing.",
    ),
    (
        "fields.add-prompts.prompt-ids-first",
        "A server that adds no single prompt fails nearly every scenario of contents.",
    ),
    ("ids.alike.add-prompts-prompt-ids", MEMBERSHIP),
    ("ids.alike.move-prompt-membership", MEMBERSHIP),
    ("ids.alike.pin-membership", MEMBERSHIP),
    ("ids.alike.remove-prompt-membership", MEMBERSHIP),
    ("ids.alike.unpin-membership", MEMBERSHIP),
];

const MEMBERSHIP: &str = "No fault tells a foreign id in this place from an absent one yet; those \
    of the same function in other places do.";

/// Scenarios that turn red, but under no fault of a rule of their own: they fail because they
/// depend on what is broken. Each is to get a fault of its own; none is to be added.
pub(crate) const BY_OTHER_RULES: &str = include_str!("by_other_rules.txt");
