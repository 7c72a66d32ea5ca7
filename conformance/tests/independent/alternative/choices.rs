//! What the servers do where the specification is silent: one struct of switches, filled
//! in three times, so that other fair answers are tried wherever there are some. Which switch belongs to which silent point, and what the reference
//! server does there, is in the table of `README.md` beside this folder.

mod minimal;
mod tolerant;
mod verbose;

pub(crate) use self::minimal::MINIMAL;
pub(crate) use self::tolerant::TOLERANT;
pub(crate) use self::verbose::VERBOSE;

/// The choices of one server.
pub(crate) struct Choices {
    /// What its scenarios are called by.
    pub(crate) name: &'static str,
    /// The root that the accounts' addresses are below.
    pub(crate) root: &'static str,
    /// S-12: the namespace that a prompt's `modelId` has to be in.
    pub(crate) namespace: &'static str,
    /// S-38: the models that make an image and a video; no others are known.
    pub(crate) models: [&'static str; 2],
    /// The scenarios of the core that find nothing to look at here.
    pub(crate) skips: &'static [&'static str],
    /// Prompts, vaults and jobs of other programs, there from the start.
    pub(super) foreign_things: usize,
    pub(super) wire: Wire,
    pub(super) keys: Keys,
    pub(super) lists: Lists,
    pub(super) records: Records,
    pub(super) bodies: Bodies,
    pub(super) moves: Moves,
    pub(super) jobs: Jobs,
    pub(super) files: Files,
    pub(super) statuses: Statuses,
}

/// [`MINIMAL`], but with output that a client can find: for the tests of the SDK.
pub(crate) const MINIMAL_IMAGES: Choices =
    Choices { name: "minimal-images", jobs: Jobs { in_images: true, ..MINIMAL.jobs }, ..MINIMAL };

/// [`MINIMAL_IMAGES`] with a nested state, and a batch in one prompt.
pub(crate) const NESTED: Choices = Choices {
    name: "nested",
    jobs: Jobs { nested_state: true, in_one_prompt: true, ..MINIMAL_IMAGES.jobs },
    ..MINIMAL_IMAGES
};

/// How answers look as bytes.
pub(super) struct Wire {
    /// S-68: unknown keys in every object, `details` and `pagination` always.
    pub(super) extras: bool,
    /// S-60: `details` say what is wrong; else they are `{}`.
    pub(super) details: bool,
    /// Chunked, over many lines, in ASCII; else of known length and compact.
    pub(super) spread_out: bool,
    /// Every answer closes its connection, and header names have capitals.
    pub(super) hangs_up: bool,
    /// S-69, S-52, S-59: `x-request-id`, `WWW-Authenticate`, cookies and others.
    pub(super) more_headers: bool,
    /// S-74: of a success and of an error.
    pub(super) content_types: [&'static str; 2],
    /// S-74: the words of every error.
    pub(super) words: Option<&'static str>,
    /// S-62: every n-th request is answered 429.
    pub(super) busy_every: Option<u64>,
}

/// Who may do what.
pub(super) struct Keys {
    /// S-50: reading needs some scope.
    pub(super) reads_need_scope: bool,
    /// S-51: save, fork and the contents of vaults need `prompts:write`.
    pub(super) contents_need_scope: bool,
    /// S-52: spaces around a key are passed over.
    pub(super) trimmed: bool,
    /// S-56: the body is looked at before the scope.
    pub(super) body_first: bool,
    /// S-59, S-61: 405, `HEAD`, `OPTIONS` and a trailing slash work, or 404 and
    /// a redirect.
    pub(super) lenient_methods: bool,
    /// S-61: `PUT` updates as `PATCH` does.
    pub(super) puts: bool,
}

/// `GET /prompts` and `GET /vaults`.
pub(super) struct Lists {
    /// S-01: by title; else in an order that means nothing.
    pub(super) by_title: bool,
    /// S-02: bound to account, filters and limit, and of 1200 characters; else a number
    /// that is full of signs and good for any list.
    pub(super) long_cursors: bool,
    /// S-71: every second page is empty, the first one too; else pages are one
    /// entry short and an exact end is followed by an empty page.
    pub(super) empty_pages: bool,
    /// S-03: unknown parameters are refused, and the last of repeated ones counts.
    pub(super) strict_queries: bool,
}

/// What objects hold.
pub(super) struct Records {
    /// S-08, S-20, S-24, S-25, S-63: a clock of whole seconds; equal dates are in
    /// the order that a quick reader does not expect.
    pub(super) whole_seconds: bool,
    /// S-64: random beyond 2^53; else falling from just above 2^32.
    pub(super) random_ids: bool,
    /// S-04: changes with each read; else with the vaults.
    pub(super) restless_status: bool,
    /// S-05, S-06: `imageUrl` is an entry of `images`.
    pub(super) image_url_shown: bool,
    /// S-07: descending; else another order each time.
    pub(super) vault_ids_fall: bool,
    /// S-13.
    pub(super) access_type: Option<&'static str>,
    /// S-15: one for every vault; else the image of one of its prompts.
    pub(super) cover: Option<&'static str>,
    /// S-16: an id in the slug; else as it was made, with capitals.
    pub(super) slugs_follow: bool,
    /// S-17: a name can be had once.
    pub(super) unique_names: bool,
    /// S-18: General is made when it is first needed, and locked.
    pub(super) late_general: bool,
    /// S-18: General says that it is a system vault.
    pub(super) general_is_system: bool,
    /// S-62: as many vaults as an account may have.
    pub(super) vaults_max: Option<usize>,
    /// S-19: `updatedAt` of a vault moves with its contents; else never.
    pub(super) vaults_age: bool,
    /// S-72: a prompt made without `vaultId` goes into General.
    pub(super) general_by_default: bool,
    /// S-73: `platform` and `description` that were never given.
    pub(super) platform: Option<&'static str>,
    pub(super) description: Option<&'static str>,
    /// S-22: a fork has another name, the other order, pins and old dates, and no
    /// images; own vaults cannot be forked. Else it is as like as can be, and its
    /// prompts are in General too.
    pub(super) forks_differ: bool,
}

/// What bodies may hold.
pub(super) struct Bodies {
    /// S-10: `null` is the same as left out; else it is refused.
    pub(super) null_is_absent: bool,
    /// S-09: `platform: null` is refused, as is an empty one.
    pub(super) platform_needs_text: bool,
    /// S-11: `http` and `https` only, no repeats; else any scheme.
    pub(super) web_only: bool,
    /// S-65: `1.0` is an integer.
    pub(super) round_floats: bool,
    /// S-66: UTF-16 units, trimmed, blank refused; else what a reader sees as one.
    pub(super) trimmed: bool,
    /// S-67: unknown fields and bodies where none belongs are refused, any content
    /// type is taken; else the other way round.
    pub(super) known_fields_only: bool,
    /// S-26: entries of `promptIds` that repeat are dropped before they are counted.
    pub(super) repeats_dropped: bool,
    /// S-66: `aspectRatio` is two numbers with a colon.
    pub(super) ratios_only: bool,
    /// S-75: a key that stands twice is refused; else the last one counts.
    pub(super) twins_refused: bool,
}

/// What is in vaults, and how it gets about.
pub(super) struct Moves {
    /// S-24: the first pin is on top.
    pub(super) first_pin_on_top: bool,
    /// S-26: adding again makes a new membership and is counted, saving again is
    /// refused; else adding is refused and saving does nothing.
    pub(super) adding_renews: bool,
    /// S-27: those before a bad one are added.
    pub(super) adds_in_part: bool,
    /// S-28, S-29: a move to where the prompt is already is refused; else the
    /// membership there is the answer.
    pub(super) refuses_again: bool,
    /// S-30: the pin moves along.
    pub(super) pins_move: bool,
    /// S-26, S-28, S-29: a prompt may have several memberships in a vault.
    pub(super) repeats: bool,
    /// S-31: a membership is found through any vault of its owner.
    pub(super) any_vault: bool,
    /// S-31: removing what is not there is a success.
    pub(super) removes_again: bool,
    /// S-76: 409 for a write while another one on the same prompt or vault is at work.
    pub(super) conflicts: bool,
    /// S-76: whoever asked to delete before it was done is told of success.
    pub(super) deletes_together: bool,
}

/// Generations.
pub(super) struct Jobs {
    /// How long one takes, in milliseconds.
    pub(super) duration: i64,
    /// S-33: before and in the midst, and after a failure.
    pub(super) states: [&'static str; 3],
    /// S-34: the member of `data` that has the state.
    pub(super) state_member: &'static str,
    /// S-36: an id is used once and of plain signs; else it names the last job.
    pub(super) strict_ids: bool,
    /// S-12: a made id is in capitals.
    pub(super) capital_ids: bool,
    /// S-38: unknown models and ratios are refused; else the job fails.
    pub(super) known_models_only: bool,
    /// S-39: the outputs are entries of `images`; else they are shown otherwise.
    pub(super) in_images: bool,
    /// S-39: all outputs are in one prompt; else each is in a prompt of its own.
    pub(super) in_one_prompt: bool,
    /// S-34: the state is in an object within `data`.
    pub(super) nested_state: bool,
    /// S-41: the job fails; else its output is in no vault.
    pub(super) fails_without_vault: bool,
}

/// Uploads and assets.
pub(super) struct Files {
    /// The storage is at another port, speaks XML, and its addresses have a query.
    pub(super) on_another_host: bool,
    /// S-43: a body that is too large is not read, and the connection closed.
    pub(super) hangs_up: bool,
    /// S-43: a body has to say its length.
    pub(super) needs_length: bool,
    /// S-43: any `Content-Type` is taken; the file has the declared one.
    pub(super) any_type: bool,
    /// S-82: the signature of the address is enough, and a token is not looked at.
    pub(super) any_token: bool,
    /// S-45: reading needs an API key.
    pub(super) key_to_read: bool,
    /// S-44: the first bytes have to be those of the type.
    pub(super) looks_inside: bool,
    /// S-45: after so many milliseconds, by a redirect, as long as a prompt has it.
    pub(super) delay: i64,
    pub(super) redirects: bool,
    /// S-06: images that were made go with their prompt.
    pub(super) images_go: bool,
}

/// Statuses that are nobody's rule.
pub(super) struct Statuses {
    /// S-14.
    pub(super) locked: u16,
    /// S-17, S-18, S-22, S-23.
    pub(super) name_taken: u16,
    pub(super) system: u16,
    pub(super) own_fork: u16,
    /// S-26 to S-29, S-31.
    pub(super) there_already: u16,
    pub(super) elsewhere: u16,
    pub(super) no_member: u16,
    /// S-27, S-57.
    pub(super) absent: u16,
    pub(super) foreign: u16,
    /// S-58: an id in a path that is no integer.
    pub(super) no_id: u16,
    /// S-35: a job that is not there, and one of another account; 200 with a state of its own.
    pub(super) no_job: u16,
    pub(super) foreign_job: u16,
    /// S-36, S-38.
    pub(super) id_taken: u16,
    pub(super) no_model: u16,
    /// S-43: token, type, size, a second time.
    pub(super) token: u16,
    pub(super) content_type: u16,
    pub(super) size: u16,
    pub(super) used: u16,
    /// S-45: an asset that is not there.
    pub(super) no_asset: u16,
    /// S-46: `POST /api-keys` with a key.
    pub(super) keys: u16,
    /// S-59: a method that is not there.
    pub(super) no_method: u16,
    /// S-67: another content type, and a body that is no JSON object.
    pub(super) no_json: u16,
    pub(super) unreadable: u16,
}
