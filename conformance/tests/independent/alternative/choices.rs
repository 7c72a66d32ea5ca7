//! What the servers do where the specification is silent: a table with a row for each switch
//! and a column for each of the three, so that other fair answers are tried wherever there are
//! some. Which switch belongs to which silent point, and what the reference server does there,
//! is in the table of `README.md` beside this folder.

/// A row: the switch and its type; what [`VERBOSE`], [`MINIMAL`] and [`TOLERANT`] choose.
macro_rules! choices {
    (
        { $($(#[$note:meta])* $name:ident: $kind:ty = $of_v:expr, $of_m:expr, $of_t:expr;)* }
        $($(#[$doc:meta])* $group:ident: $Group:ident {
            $($(#[$what:meta])* $switch:ident: $type:ty = $v:expr, $m:expr, $t:expr;)*
        })*
    ) => {
        /// The choices of one server.
        pub(crate) struct Choices {
            $($(#[$note])* pub(crate) $name: $kind,)*
            $(pub(super) $group: $Group,)*
        }

        $($(#[$doc])* pub(super) struct $Group { $($(#[$what])* pub(super) $switch: $type,)* })*

        /// Full of foreign things, says more than it was asked for, and takes what it is given.
        pub(crate) const VERBOSE: Choices =
            Choices { $($name: $of_v,)* $($group: $Group { $($switch: $v,)* },)* };

        /// Empty at first, curt, particular about what it is sent; its clock, orders and pages
        /// are as coarse as they may be.
        pub(crate) const MINIMAL: Choices =
            Choices { $($name: $of_m,)* $($group: $Group { $($switch: $m,)* },)* };

        /// Drops repeats, removes twice and takes `PUT`; guards its assets, counts vaults and says
        /// 409 to those who meet.
        pub(crate) const TOLERANT: Choices =
            Choices { $($name: $of_t,)* $($group: $Group { $($switch: $t,)* },)* };
    };
}

choices! {
    {
        /// What its scenarios are called by.
        name: &'static str = "verbose", "minimal", "tolerant";
        /// The bug that it has; none if it is empty.
        bug: &'static str = "", "", "";
        /// The root that the accounts' addresses are below.
        root: &'static str = "/tenants/7/api/v1", "/api/v1", "/eu/api/v1";
        /// S-12: the namespace that a prompt's `modelId` has to be in.
        namespace: &'static str = "contrary", "acme.models-2", "studio";
        /// S-38: the models that make an image and a video; no others are known.
        models: [&'static str; 2] =
            ["contrary/still", "contrary/moving/picture"],
            ["acme.models-2/s", "acme.models-2/m:1"],
            ["studio/a", "studio/b"];
        /// The scenarios of the core that find nothing to look at: outputs are not in `images`
        /// (S-39), an account has at most so many vaults (S-62), and models take no `imageInput` (S-38).
        skips: &'static [&'static str] =
            &[],
            &[
                "generations.images.stay",
                "generations.images.fetched",
                "generations.images.distinct",
                "generations.output.ratio-default",
            ],
            &["vaults.list.whole", "generations.inputs.image"];
        /// Prompts, vaults and jobs of other programs, there from the start.
        foreign_things: usize = 130, 0, 3;
    }
    /// How answers look as bytes.
    wire: Wire {
        /// S-32, S-68, S-70: unknown keys in every object, `details` and `pagination` always.
        extras: bool = true, false, false;
        /// S-60: `details` say what is wrong; else they are `{}`.
        details: bool = true, false, true;
        /// Chunked, over many lines, in ASCII; else of known length and compact.
        spread_out: bool = true, false, false;
        /// Every answer closes its connection, and header names have capitals.
        hangs_up: bool = false, true, false;
        /// S-69, S-52, S-59: `x-request-id`, `WWW-Authenticate`, cookies and others.
        more_headers: bool = false, true, false;
        /// S-74: of a success and of an error.
        content_types: [&'static str; 2] =
            ["Application/JSON;charset=\"UTF-8\"", "application/problem+json"],
            ["application/vnd.api+json", "application/json"],
            ["application/json", "application/json"];
        /// S-53, S-74: the words of every error.
        words: Option<&'static str> = None, Some("Nein"), None;
        /// S-62: every n-th request is answered 429.
        busy_every: Option<u64> = None, Some(211), None;
    }
    /// Who may do what.
    keys: Keys {
        /// S-50: reading needs some scope.
        reads_need_scope: bool = true, false, false;
        /// S-48, S-51: save and the contents of vaults need `prompts:write`.
        contents_need_scope: bool = false, true, true;
        /// S-52: spaces around a key are passed over.
        trimmed: bool = true, false, false;
        /// S-56: the body is looked at before the scope.
        body_first: bool = false, true, false;
        /// S-59, S-61: 405, `HEAD`, `OPTIONS` and a trailing slash work, or 404 and a redirect.
        lenient_methods: bool = true, false, true;
        /// S-61: `PUT` updates as `PATCH` does.
        puts: bool = false, false, true;
    }
    /// `GET /prompts` and `GET /vaults`.
    lists: Lists {
        /// S-01: by title; else in an order that means nothing.
        by_title: bool = true, false, true;
        /// S-02: bound to account, filters and limit, and of 1200 characters; else a number that is
        /// full of signs and good for any list.
        long_cursors: bool = false, true, false;
        /// S-03, S-84: unknown parameters are refused, and the last of repeated ones counts.
        strict_queries: bool = true, false, false;
    }
    /// What objects hold.
    records: Records {
        /// S-08, S-20, S-24, S-25, S-63, S-78: a clock of whole seconds; equal dates are in the order
        /// that a quick reader does not expect.
        whole_seconds: bool = false, true, false;
        /// S-64: random beyond 2^53; else falling from just above 2^32.
        random_ids: bool = true, false, false;
        /// S-04: changes with each read; else with the vaults.
        restless_status: bool = false, true, false;
        /// S-05, S-06: `imageUrl` is an entry of `images`.
        image_url_shown: bool = true, false, false;
        /// S-07: descending; else another order each time.
        vault_ids_fall: bool = true, false, false;
        /// S-13.
        access_type: Option<&'static str> = Some("owner"), None, None;
        /// S-15: one for every vault; else the image of one of its prompts.
        cover: Option<&'static str> =
            None,
            Some("https://cdn.example/cover?size=large&v=1#top"),
            None;
        /// S-16: an id in the slug; else as it was made, with capitals.
        slugs_follow: bool = false, true, true;
        /// S-17: a name can be had once.
        unique_names: bool = true, false, false;
        /// S-18: General is made when it is first needed, and locked.
        late_general: bool = false, true, false;
        /// S-62: as many vaults as an account may have.
        vaults_max: Option<usize> = None, None, Some(100);
        /// S-19: `updatedAt` of a vault moves with its contents; else never.
        vaults_age: bool = true, false, false;
        /// S-72: a prompt made without `vaultId` goes into General.
        general_by_default: bool = true, false, false;
        /// S-73: `platform` and `description` that were never given.
        platform: Option<&'static str> = Some("any"), Some(""), None;
        description: Option<&'static str> = Some(""), None, None;
        /// S-22: a fork has another name, the other order, pins and old dates, and no images; own
        /// vaults cannot be forked. Else it is as like as can be, and its prompts are in General
        /// too.
        forks_differ: bool = true, false, false;
    }
    /// What bodies may hold.
    bodies: Bodies {
        /// S-09: `platform: null` is refused, as is an empty one.
        platform_needs_text: bool = true, false, false;
        /// S-11: `http` and `https` only, no repeats; else any scheme.
        web_only: bool = true, false, false;
        /// S-65: `1.0` is an integer.
        round_floats: bool = true, false, false;
        /// S-37, S-66: code points, trimmed, blank refused; else what a reader sees as one.
        trimmed: bool = true, false, false;
        /// S-67: unknown fields and bodies where none belongs are refused, any content type is
        /// taken; else the other way round.
        known_fields_only: bool = true, false, false;
        /// S-26: entries of `promptIds` that repeat are dropped before they are counted.
        repeats_dropped: bool = false, false, true;
        /// S-66: `aspectRatio` is two numbers with a colon.
        ratios_only: bool = false, false, true;
        /// S-75: a key that stands twice is refused; else the last one counts.
        twins_refused: bool = false, true, true;
    }
    /// What is in vaults, and how it gets about.
    moves: Moves {
        /// S-24: the first pin is on top.
        first_pin_on_top: bool = true, false, false;
        /// S-26: adding again makes a new membership and is counted, saving again is refused; else
        /// adding is refused and saving does nothing.
        adding_renews: bool = true, false, false;
        /// S-27: those before a bad one are added.
        adds_in_part: bool = true, false, false;
        /// S-28, S-29: a move to where the prompt is already is refused; else the membership there
        /// is the answer.
        refuses_again: bool = true, false, false;
        /// S-30: the pin moves along.
        pins_move: bool = true, false, false;
        /// S-26, S-28, S-29: a prompt may have several memberships in a vault.
        repeats: bool = false, false, true;
        /// S-31: a membership is found through any vault of its owner.
        any_vault: bool = false, false, true;
        /// S-31: removing what is not there is a success.
        removes_again: bool = false, false, true;
        /// S-76: 409 for a write while another one on the same prompt or vault is at work.
        conflicts: bool = false, false, true;
        /// S-76: whoever asked to delete before it was done is told of success.
        deletes_together: bool = false, true, false;
    }
    /// Generations.
    jobs: Jobs {
        /// How long one takes, in milliseconds.
        duration: i64 = 300, 40, 40;
        /// S-33, S-40: before and in the midst, and after a failure.
        states: [&'static str; 3] =
            ["waiting in line", "almost completed", "gone wrong"],
            ["", "42 %", "error"],
            ["", "42 %", "error"];
        /// S-34: the member of `data` that has the state.
        state_member: &'static str = "phase", "state", "state";
        /// S-36: an id is used once and of plain signs; else it names the last job.
        strict_ids: bool = true, false, false;
        /// S-12: a made id is in capitals.
        capital_ids: bool = false, true, false;
        /// S-38: unknown models and ratios are refused; else the job fails.
        known_models_only: bool = true, false, false;
        /// S-39: the outputs are entries of `images`; else they are shown otherwise.
        in_images: bool = true, false, true;
        /// S-39: all outputs are in one prompt; else each is in a prompt of its own.
        in_one_prompt: bool = false, false, true;
        /// S-34: the state is in an object within `data`.
        nested_state: bool = false, false, false;
        /// S-41: the job fails; else its output is in no vault.
        fails_without_vault: bool = true, false, false;
    }
    /// Uploads and assets.
    files: Files {
        /// The storage is at another port, speaks XML, and its addresses have a query.
        on_another_host: bool = true, false, false;
        /// S-43: a body that is too large is not read, and the connection closed.
        hangs_up: bool = false, true, false;
        /// S-43: a body has to say its length.
        needs_length: bool = true, false, false;
        /// S-43: any `Content-Type` is taken; the file has the declared one.
        any_type: bool = false, true, true;
        /// S-45: reading needs an API key.
        key_to_read: bool = false, false, true;
        /// S-44: the first bytes have to be those of the type.
        looks_inside: bool = true, false, false;
        /// S-45: after so many milliseconds, by a redirect, as long as a prompt has it.
        delay: i64 = 120, 0, 0;
        redirects: bool = true, false, false;
        /// S-06: images that were made go with their prompt.
        images_go: bool = true, false, false;
    }
    /// Statuses that are nobody's rule.
    statuses: Statuses {
        /// S-14.
        locked: u16 = 423, 403, 403;
        /// S-17, S-18, S-22, S-23.
        name_taken: u16 = 409, 400, 400;
        system: u16 = 409, 403, 403;
        own_fork: u16 = 409, 400, 400;
        /// S-26 to S-29, S-31.
        there_already: u16 = 409, 400, 400;
        elsewhere: u16 = 409, 410, 410;
        no_member: u16 = 404, 410, 404;
        /// S-27, S-57.
        absent: u16 = 422, 404, 404;
        foreign: u16 = 403, 404, 404;
        /// S-58: an id in a path that is no integer.
        no_id: u16 = 400, 404, 404;
        /// S-35: a job that is not there, and one of another account; 200 with a state of its own.
        no_job: u16 = 422, 410, 200;
        foreign_job: u16 = 403, 410, 200;
        /// S-36, S-38.
        id_taken: u16 = 409, 400, 400;
        no_model: u16 = 422, 400, 422;
        /// S-43: token, type, size, a second time.
        token: u16 = 403, 401, 401;
        content_type: u16 = 422, 400, 400;
        size: u16 = 400, 413, 413;
        used: u16 = 409, 403, 403;
        /// S-45: an asset that is not there.
        no_asset: u16 = 403, 410, 404;
        /// S-46: `POST /api-keys` with a key.
        keys: u16 = 403, 405, 405;
        /// S-59: a method that is not there.
        no_method: u16 = 404, 405, 405;
        /// S-67: another content type, and a body that is no JSON object.
        no_json: u16 = 400, 415, 422;
        unreadable: u16 = 400, 400, 422;
    }
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

/// Without a peculiarity: what bugs are put into.
pub(crate) const PLAIN: Choices = Choices {
    name: "plain",
    skips: &[],
    foreign_things: 12,
    wire: Wire {
        hangs_up: false,
        more_headers: false,
        words: None,
        busy_every: None,
        ..MINIMAL.wire
    },
    keys: Keys { body_first: false, ..MINIMAL.keys },
    lists: MINIMAL.lists,
    records: Records {
        whole_seconds: false,
        late_general: false,
        vaults_max: None,
        forks_differ: false,
        ..TOLERANT.records
    },
    moves: Moves { deletes_together: false, ..MINIMAL.moves },
    // Longer than a busy machine takes to look.
    jobs: Jobs { known_models_only: true, duration: 150, ..TOLERANT.jobs },
    files: Files { hangs_up: false, any_type: false, ..MINIMAL.files },
    statuses: Statuses { no_job: 404, foreign_job: 404, ..TOLERANT.statuses },
    ..TOLERANT
};

impl Choices {
    /// Whether the server has this bug.
    pub(super) fn bug(&self, name: &str) -> bool {
        self.bug == name
    }

    /// [`PLAIN`] with a bug. It lives as long as the program.
    pub(crate) fn with_bug(bug: &'static str) -> &'static Self {
        Box::leak(Box::new(Self { bug, ..PLAIN }))
    }
}
