//! Random operations, and the values and ids they use.
//!
//! An operation is an action and a seed. Callers, ids and fields are derived from the seed
//! when the operation runs, from the ids that the store has returned so far. Two stores
//! that agreed so far therefore get equal calls, and any subsequence is a valid sequence.

use std::sync::Arc;

use jiff::Timestamp;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;

use crate::domain::{
    AccountData, GenerationRequest, ImageRef, NewKey, NewPrompt, NewVault, OutputKind, PromptImage,
    PromptInputs, PromptKind, PromptPatch, ProviderTicket, Scopes, VaultPatch, VaultRecord,
    VaultVisibility,
};

/// How many accounts take part.
pub(super) const ACCOUNTS: usize = 3;

/// Declares the actions with their weights.
macro_rules! actions {
    ($($action:ident $weight:literal),+ $(,)?) => {
        /// One call of the store, or the passing of time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Action { $($action),+ }

        const WEIGHTS: &[(Action, usize)] = &[$((Action::$action, $weight)),+];
    };
}

actions! {
    Wait 20, WaitLong 2, SeedKey 8, FindKey 4, ConfirmKey 4, RenameAccount 4,
    CreateSignInCode 18, SignIn 22, FindSession 14, EndSession 10, CreateApiKey 12, RevokeApiKey 6,
    CreatePrompt 20, Prompt 6, ListPrompts 20, UpdatePrompt 26, DeletePrompt 6, SavePrompt 12,
    SearchPrompts 14, CountPrompts 3, MembershipsOf 4,
    CreateVault 18, Vault 6, UpdateVault 20, DeleteVault 6, ForkVault 14,
    NewestVaults 4, SharedVault 8, VaultPage 6, Import 3,
    Contents 8, AddPrompts 32, RemoveMembership 8, MoveMembership 26, SetPinned 32,
    ReserveJob 20, JobSubmitted 16, JobLost 4, DiscardJob 3, Job 4, Jobs 12, JobByKey 4,
    FailLate 5, DeleteEnded 18, ClaimJob 26, RenewLease 4, NoteJob 6, ReleaseJob 20, CompleteJob 10,
    FailJob 4,
}

impl Action {
    pub(crate) const fn is_on_jobs(self) -> bool {
        self as u8 >= Self::ReserveJob as u8
    }

    /// Those that an account calls.
    pub(crate) fn of_accounts() -> impl Iterator<Item = Self> {
        use Action::*;
        let is_of_account = |action: &Self| match action {
            Wait | WaitLong | SeedKey | FindKey | CreateSignInCode | SignIn | FindSession
            | SharedVault | JobSubmitted | JobLost | DiscardJob | JobByKey => false,
            action => (*action as u8) < FailLate as u8,
        };
        WEIGHTS.iter().map(|(action, _)| *action).filter(is_of_account)
    }
}

/// An action and the seed of its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) action: Action,
    pub(crate) seed: u64,
}

/// A random sequence. It begins with a few vaults and prompts to work on.
pub(crate) fn sequence(seed: u64, length: usize) -> Vec<Op> {
    let mut random = StdRng::seed_from_u64(seed);
    let start = [(Action::CreateVault, 3), (Action::CreatePrompt, 5)];
    let start = start.into_iter().flat_map(|(action, times)| std::iter::repeat_n(action, times));
    let all: Vec<_> = WEIGHTS.iter().flat_map(|(action, weight)| vec![*action; *weight]).collect();
    let actions = start.map(Some).chain(std::iter::repeat(None)).take(length + 8);
    let op = |action: Option<Action>| {
        let action = action.or_else(|| all.choose(&mut random).copied());
        Op { action: action.expect("there are actions"), seed: random.random() }
    };
    actions.map(op).collect()
}

/// Names whose slugs collide; two of them have no letter or digit.
pub(crate) const NAMES: [&str; 12] = [
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

/// The source of an operation's values.
pub(crate) struct Values {
    random: StdRng,
    /// Whose call it is, usually the first account's.
    pub(super) account: usize,
}

impl Values {
    pub(crate) fn new(seed: u64) -> Self {
        let mut values = Self { random: StdRng::seed_from_u64(seed), account: 0 };
        values.account = if values.chance(80) { 0 } else { values.below(ACCOUNTS) };
        values
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.random.random()
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn choose<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        from.choose(&mut self.random).cloned()
    }

    /// A value in half of all cases.
    pub(crate) fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance(50).then(|| value(self))
    }

    /// A text, sometimes with characters that are easily damaged.
    pub(crate) fn text(&mut self) -> Arc<str> {
        let odd = [
            "'; --",
            "\\ \"{}\" $1 %s",
            "—ünï 漢字 🌊",
            "e\u{301} \u{202e}\u{10ffff}",
            "\n\t\r\u{7f}",
        ];
        let end = odd.get(self.below(16)).unwrap_or(&"");
        format!("text {}{end}", self.below(100)).into()
    }

    pub(crate) fn name(&mut self) -> Arc<str> {
        self.choose(&NAMES).map_or_else(|| "a".into(), Arc::from)
    }

    pub(crate) fn kind(&mut self) -> PromptKind {
        [PromptKind::Image, PromptKind::Text, PromptKind::Video][self.below(3)]
    }

    fn visibility(&mut self) -> VaultVisibility {
        use VaultVisibility::{Private, Public, Unlisted};
        [Private, Public, Unlisted][self.below(3)]
    }

    pub(crate) fn image(&mut self) -> ImageRef {
        match self.chance(50) {
            true => ImageRef::from("0123456789abcdefghijklmno0.png"),
            false => ImageRef::from(&*self.text()),
        }
    }

    fn image_list(&mut self, limit: usize) -> Vec<ImageRef> {
        (0..self.below(limit)).map(|_| self.image()).collect()
    }

    /// A key, which is revoked in so many of a hundred cases.
    pub(crate) fn new_key(&mut self, public_id: &str, revoked: usize) -> NewKey {
        let scopes = Scopes { prompts_write: self.chance(50) };
        let (digest, revoked) = ([self.byte() % 2; 32], self.chance(revoked));
        NewKey { public_id: public_id.into(), name: None, digest, scopes, revoked }
    }

    /// A prompt; an image or video prompt has a model.
    pub(crate) fn new_prompt(&mut self) -> NewPrompt {
        let kind = self.kind();
        let model_id = (kind.needs_model() || self.chance(50)).then(|| self.text());
        let inputs = PromptInputs { model_id, ..PromptInputs::default() };
        let (title, text, platform) = (self.text(), self.text(), self.maybe(Self::text));
        NewPrompt { title, text, kind, platform, inputs, vault: None, images: self.images().into() }
    }

    /// A patch; one in ten is empty.
    pub(crate) fn patch(&mut self) -> PromptPatch {
        if self.chance(10) {
            return PromptPatch::default();
        }
        let media = self.chance(20);
        PromptPatch {
            title: self.maybe(Self::text),
            text: self.maybe(Self::text),
            kind: self.maybe(Self::kind),
            platform: self.maybe(|values| values.maybe(Self::text)),
            inputs: PromptInputs {
                model_id: self.chance(20).then(|| self.text()),
                aspect_ratio: media.then(|| self.text()),
                image_url: media.then(|| self.image()),
                reference_media_urls: media.then(|| self.image_list(4).into()),
            },
            vault: None,
            image: self.images().pop().filter(|_| self.chance(50)),
        }
    }

    pub(crate) fn new_vault(&mut self) -> NewVault {
        let (name, description) = (self.name(), self.maybe(Self::text));
        NewVault { name, description, visibility: self.visibility() }
    }

    pub(crate) fn vault_patch(&mut self) -> VaultPatch {
        VaultPatch {
            name: self.maybe(Self::name),
            description: self.maybe(|values| values.maybe(Self::text)),
            visibility: self.maybe(Self::visibility),
            cover_image: self.maybe(|values| values.maybe(Self::image)),
        }
    }

    /// An export, of which one vault in five is the system vault.
    pub(crate) fn account_data(&mut self) -> AccountData {
        let time = Timestamp::from_microsecond(1_600_000_000_123_456).expect("in range");
        let count = self.byte() % 4;
        let prompt = |id: u8| {
            let new = self.new_prompt();
            (new.record(i64::from(id).into(), time), new.inputs)
        };
        let prompts = (0..count).map(prompt).collect();
        let vaults = self.below(3);
        let vault = |_| {
            let (cover_image, system) = (self.maybe(Self::image), self.chance(20));
            let record = self.new_vault().record(time);
            let member = |id: u8| self.maybe(|one| (i64::from(id).into(), one.chance(50)));
            let members = (0..count).filter_map(member).collect();
            (VaultRecord { cover_image, system, ..record }, members)
        };
        let vaults = (0..vaults).map(vault).collect();
        AccountData { prompts, vaults }
    }

    pub(crate) fn request(&mut self) -> GenerationRequest {
        let parameters = json!({
            "nested": { "": &*self.text(), "list": [1, 1.0, true, null, "\u{1}", {}] },
            "numbers": [-0.5, -0.0, 1e16, 1e-9, 5e-324],
            "seed": u64::MAX - self.below(256) as u64,
        });
        let some = |values: &mut Self| Box::from(&*values.text());
        GenerationRequest {
            model_id: some(self),
            prompt: self.text().repeat(1 + 100 * self.below(5)).into(),
            kind: if self.chance(30) { OutputKind::Video } else { OutputKind::Image },
            negative_prompt: self.maybe(some),
            image_input: self.maybe(Self::image),
            image_inputs: self.image_list(4),
            aspect_ratio: if self.chance(15) { "1:1".repeat(9).into() } else { "16:9".into() },
            batch_count: 1 + u32::from(self.byte() % 4),
            parameters: parameters.as_object().filter(|_| self.chance(40)).cloned(),
            reference_image_urls: self.image_list(3),
            image_edit_endpoint_id: self.maybe(some),
        }
    }

    pub(crate) fn ticket(&mut self) -> ProviderTicket {
        ProviderTicket {
            request_id: (&*self.text()).into(),
            provider_state: (&*self.text()).into(),
        }
    }

    pub(crate) fn images(&mut self) -> Vec<PromptImage> {
        let image = |number| PromptImage {
            source: ImageRef::from(&*format!("http://localhost/assets/{number}.png?\"ü")),
            width: u32::MAX - number,
            height: 1 + number,
            created_at: Timestamp::from_microsecond(1_700_000_000_123_456).expect("in range"),
        };
        (0..u32::from(self.byte() % 4)).map(image).collect()
    }
}
