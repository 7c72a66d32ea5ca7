//! The rules without a scenario or without a fault, each with its reason. A reason that no longer
//! holds fails a test, so the table only says what is true.

/// Why a rule, or a whole chapter, has no scenario or no fault.
#[derive(Clone, Copy, Debug)]
pub struct Exemption {
    /// A rule (`LI-16`) or a chapter (`UP`).
    pub what: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Exemption {
    /// Whether it speaks of this rule.
    pub fn covers(&self, rule: &str) -> bool {
        self.what == rule || rule.split_once('-').is_some_and(|(chapter, _)| chapter == self.what)
    }
}

/// The rules with scenarios that no deliberate fault breaks, in the order of `docs/api.md`.
pub const WITHOUT_FAULT: &[Exemption] = &[];

/// Every reason, in the order of `docs/api.md`.
pub const EXEMPTIONS: &[Exemption] = &[
    Exemption {
        what: "UP-18",
        reason: "it says what a client does, and a run is over long before the 7200 seconds are",
    },
    Exemption {
        what: "LI-16",
        reason: "a run is over long before the 7200 seconds are; with a clock of their own the \
                 tests of the reference server wait for them",
    },
    Exemption {
        what: "VE-03",
        reason: "a promise about the time after the next version; there is none yet",
    },
];
