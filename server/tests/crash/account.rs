//! One account as its only client knows it: what was acknowledged, what is in
//! doubt, and what is there in truth.

mod actual;
mod change;
mod world;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

pub(crate) use self::actual::{Actual, members};
pub(crate) use self::change::{Change, Touched};
pub(crate) use self::world::{Prompt, Vault, World};

/// Everything a client remembers.
pub(crate) struct Account {
    pub(crate) key: String,
    /// Marks what it makes; names are made once.
    pub(crate) tag: String,
    pub(crate) names: u32,
    pub(crate) world: World,
    /// Outputs go here, and here only; its contents are known at the end of a round.
    pub(crate) jobs_vault: i64,
    /// What nobody knows about. What a doubt touches is left alone until it is
    /// settled, so that each can be settled by itself.
    pub(crate) doubts: Vec<Change>,
    pub(crate) jobs: BTreeMap<String, Job>,
    pub(crate) uploads: Vec<Upload>,
    /// Answers that were wrong.
    pub(crate) wrong: Vec<String>,
    pub(crate) tally: Tally,
}

/// A generation that was asked for.
pub(crate) struct Job {
    pub(crate) body: Value,
    /// The provider's name for it, if it was accepted.
    pub(crate) accepted: Option<String>,
    /// The prompt it came to, once that was seen.
    pub(crate) prompt: Option<i64>,
}

/// A file that was sent.
pub(crate) struct Upload {
    /// Without the public address of the service.
    pub(crate) path: String,
    pub(crate) bytes: Bytes,
    pub(crate) acknowledged: bool,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) acknowledged: u32,
    pub(crate) in_doubt: u32,
    pub(crate) refused: u32,
    pub(crate) not_sent: u32,
    pub(crate) reads: u32,
}

impl Account {
    pub(crate) fn new(key: String, tag: String) -> Self {
        Self {
            key,
            tag,
            names: 0,
            world: World::default(),
            jobs_vault: 0,
            doubts: Vec::new(),
            jobs: BTreeMap::new(),
            uploads: Vec::new(),
            wrong: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// A text that nothing else has.
    pub(crate) fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what} {} {}", self.tag, self.names)
    }

    /// All that must be left alone.
    pub(crate) fn doubted(&self) -> Touched {
        let mut all = Touched::default();
        for doubt in &self.doubts {
            let touched = doubt.touches(&self.world);
            all.prompts.extend(touched.prompts);
            all.vaults.extend(touched.vaults);
        }
        all
    }

    pub(crate) fn wrong(&mut self, what: impl Into<String>) {
        let what = format!("account {}: {}", self.tag, what.into());
        self.wrong.push(what);
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.in_doubt += other.in_doubt;
        self.refused += other.refused;
        self.not_sent += other.not_sent;
        self.reads += other.reads;
    }
}
