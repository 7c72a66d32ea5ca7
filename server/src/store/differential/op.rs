//! Random steps.

pub(crate) mod jobs;

use std::ops::RangeInclusive;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use self::jobs::JobOp;
use crate::domain::{PromptKind, VaultVisibility};

/// How many accounts take part.
pub(crate) const ACCOUNTS: usize = 3;

/// One of the accounts.
pub(crate) type Who = usize;

/// Some prompt, vault or membership: which one is settled when the step is
/// taken, by what is there then, so that a step hits something on any store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pick {
    /// One that the account taking the step has.
    Own(usize),
    /// One that anyone has or had.
    Any(usize),
    /// One that never was.
    Nothing,
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Time passes.
    Wait(Duration),
    SeedKey {
        account: u8,
        public_id: u8,
        digest: u8,
        write: bool,
        revoked: bool,
    },
    FindKey {
        public_id: u8,
    },
    ConfirmKey(Who),
    CreatePrompt(Who, Draft),
    Prompt(Who, Pick),
    ListPrompts {
        by: Who,
        vault: Option<Pick>,
        kind: Option<PromptKind>,
        limit: usize,
        after: Option<Pick>,
    },
    UpdatePrompt(Who, Pick, Change),
    DeletePrompt(Who, Pick),
    SavePrompt {
        by: Who,
        prompt: Pick,
        vault: Pick,
    },
    CreateVault {
        by: Who,
        name: &'static str,
        description: Option<u8>,
        visibility: VaultVisibility,
    },
    Vault(Who, Pick),
    UpdateVault {
        by: Who,
        vault: Pick,
        name: Option<&'static str>,
        description: Option<Option<u8>>,
        visibility: Option<VaultVisibility>,
    },
    DeleteVault(Who, Pick),
    Fork(Who, Pick),
    Contents(Who, Pick),
    AddPrompts {
        by: Who,
        vault: Pick,
        prompts: Vec<Pick>,
    },
    RemoveMembership {
        by: Who,
        at: Member,
    },
    MoveMembership {
        by: Who,
        at: Member,
        target: Pick,
    },
    SetPinned {
        by: Who,
        at: Member,
        pinned: bool,
    },
    Job(JobOp),
}

/// A membership, addressed in a vault.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The membership.
    pub(crate) membership: Pick,
    /// The vault, if not the one the membership is in.
    pub(crate) elsewhere: Option<Pick>,
}

/// A prompt to make. An image or video prompt always gets a model.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) text: u8,
    pub(crate) kind: PromptKind,
    pub(crate) model: bool,
    pub(crate) platform: Option<u8>,
    pub(crate) vault: Option<Pick>,
}

/// A change to a prompt.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) title: Option<u8>,
    pub(crate) text: Option<u8>,
    pub(crate) kind: Option<PromptKind>,
    pub(crate) platform: Option<Option<u8>>,
    pub(crate) model: Option<u8>,
    pub(crate) media: Option<u8>,
    pub(crate) vault: Option<Pick>,
}

/// Names whose slugs get in each other's way; two of them leave no slug.
const NAMES: [&str; 12] = [
    "a",
    "A",
    "a 2",
    "a 3",
    "a 2 2",
    "a-02",
    "General",
    "!",
    "…?",
    "Ünï'c\\ode",
    "a_10",
    "漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢",
];

/// A sequence of steps. It starts with a few that make something to work on.
pub(crate) fn ops(length: RangeInclusive<usize>) -> impl Strategy<Value = Vec<Op>> {
    let start = (vec(create_vault(), 3), vec(create_prompt(), 5));
    (start, vec(op(), length)).prop_map(|((vaults, prompts), rest)| {
        vaults.into_iter().chain(prompts).chain(rest).collect()
    })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..7_u64).prop_map(|seconds| Op::Wait(Duration::from_secs(seconds))),
        2 => keys(),
        12 => prompts(),
        10 => vaults(),
        15 => contents(),
        15 => jobs::jobs().prop_map(Op::Job),
    ]
}

fn keys() -> impl Strategy<Value = Op> {
    prop_oneof![
        // One account more than take part, so that a seed may make one.
        2 => (0..=3_u8, 0..6_u8, 0..2_u8, any::<bool>(), any::<bool>()).prop_map(
            |(account, public_id, digest, write, revoked)| {
                Op::SeedKey { account, public_id, digest, write, revoked }
            }
        ),
        1 => (0..6_u8).prop_map(|public_id| Op::FindKey { public_id }),
        1 => who().prop_map(Op::ConfirmKey),
    ]
}

fn prompts() -> impl Strategy<Value = Op> {
    let list = (who(), option::of(pick()), option::of(kind()), 1..5_usize, option::of(pick()));
    prop_oneof![
        3 => create_prompt(),
        1 => (who(), pick()).prop_map(|(by, prompt)| Op::Prompt(by, prompt)),
        3 => list.prop_map(|(by, vault, kind, limit, after)| {
            Op::ListPrompts { by, vault, kind, limit, after }
        }),
        3 => (who(), pick(), change()).prop_map(|(by, id, change)| Op::UpdatePrompt(by, id, change)),
        1 => (who(), pick()).prop_map(|(by, prompt)| Op::DeletePrompt(by, prompt)),
        2 => (who(), pick(), pick())
            .prop_map(|(by, prompt, vault)| Op::SavePrompt { by, prompt, vault }),
    ]
}

fn vaults() -> impl Strategy<Value = Op> {
    let update = (
        (who(), pick()),
        option::of(name()),
        option::of(option::of(any::<u8>())),
        option::of(visibility()),
    );
    prop_oneof![
        3 => create_vault(),
        1 => (who(), pick()).prop_map(|(by, vault)| Op::Vault(by, vault)),
        3 => update.prop_map(|((by, vault), name, description, visibility)| {
            Op::UpdateVault { by, vault, name, description, visibility }
        }),
        1 => (who(), pick()).prop_map(|(by, vault)| Op::DeleteVault(by, vault)),
        2 => (who(), pick()).prop_map(|(by, vault)| Op::Fork(by, vault)),
    ]
}

fn contents() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => (who(), pick()).prop_map(|(by, vault)| Op::Contents(by, vault)),
        4 => (who(), pick(), vec(pick(), 1..5))
            .prop_map(|(by, vault, prompts)| Op::AddPrompts { by, vault, prompts }),
        1 => (who(), member()).prop_map(|(by, at)| Op::RemoveMembership { by, at }),
        3 => (who(), member(), pick())
            .prop_map(|(by, at, target)| Op::MoveMembership { by, at, target }),
        4 => (who(), member(), prop::bool::weighted(0.7))
            .prop_map(|(by, at, pinned)| Op::SetPinned { by, at, pinned }),
    ]
}

fn create_prompt() -> impl Strategy<Value = Op> {
    let small = any::<u8>();
    (who(), (small, kind(), any::<bool>(), option::of(any::<u8>()), option::of(pick()))).prop_map(
        |(by, (text, kind, model, platform, vault))| {
            Op::CreatePrompt(by, Draft { text, kind, model, platform, vault })
        },
    )
}

fn create_vault() -> impl Strategy<Value = Op> {
    (who(), name(), option::of(any::<u8>()), visibility()).prop_map(
        |(by, name, description, visibility)| Op::CreateVault { by, name, description, visibility },
    )
}

fn change() -> impl Strategy<Value = Change> {
    (
        (option::of(any::<u8>()), option::of(any::<u8>())),
        option::of(kind()),
        option::of(option::of(any::<u8>())),
        (option::weighted(0.2, any::<u8>()), option::weighted(0.2, any::<u8>())),
        option::weighted(0.3, pick()),
        prop::bool::weighted(0.1),
    )
        .prop_map(|((title, text), kind, platform, (model, media), vault, empty)| {
            let (title, text) = (title.filter(|_| !empty), text.filter(|_| !empty));
            let (kind, platform) = (kind.filter(|_| !empty), platform.filter(|_| !empty));
            let (model, media) = (model.filter(|_| !empty), media.filter(|_| !empty));
            Change { title, text, kind, platform, model, media, vault: vault.filter(|_| !empty) }
        })
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![4 => Just(0), 1 => 1..ACCOUNTS]
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        16 => any::<usize>().prop_map(Pick::Own),
        3 => any::<usize>().prop_map(Pick::Any),
        1 => Just(Pick::Nothing),
    ]
}

fn member() -> impl Strategy<Value = Member> {
    (pick(), option::weighted(0.1, pick()))
        .prop_map(|(membership, elsewhere)| Member { membership, elsewhere })
}

fn kind() -> impl Strategy<Value = PromptKind> {
    select(&[PromptKind::Image, PromptKind::Text, PromptKind::Video][..])
}

fn visibility() -> impl Strategy<Value = VaultVisibility> {
    use VaultVisibility::{Private, Public, Unlisted};
    select(&[Private, Public, Unlisted][..])
}

fn name() -> impl Strategy<Value = &'static str> {
    select(&NAMES[..])
}
