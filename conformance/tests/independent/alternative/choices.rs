//! What the servers do where the specification is silent: a table with a row for each switch
//! and a column for each of the three, so that other fair answers are tried wherever there are
//! some. Which switch belongs to which silent point, and what the reference server does there,
//! is in the table of `README.md` beside this folder.

/// A row: the switch and its type; what [`VERBOSE`], [`MINIMAL`] and [`TOLERANT`] choose.
macro_rules! choices {
    ($($group:ident: $Group:ident { $($switch:ident: $type:ty = $row:expr;)* })*) => {
        /// The choices of one server.
        pub(crate) struct Choices {
            /// What its scenarios are called by.
            pub(crate) name: &'static str,
            /// The bug that it has; none if it is empty.
            pub(crate) bug: &'static str,
            /// The scenarios of the core that find nothing to look at.
            pub(crate) skips: &'static [&'static str],
            /// S-38: the models that make an image and a video; no others are known.
            pub(crate) models: [&'static str; 2],
            $(pub(super) $group: $Group,)*
        }

        $(pub(super) struct $Group { $(pub(super) $switch: $type,)* })*

        const fn of_column(name: &'static str, at: usize) -> Choices {
            Choices {
                name,
                bug: "",
                skips: SKIPS[at],
                models: MODELS[at],
                $($group: $Group { $($switch: $row[at],)* },)*
            }
        }
    };
}

/// Full of foreign things, says more than it was asked for, and takes what it is given.
pub(crate) const VERBOSE: Choices = of_column("verbose", 0);

/// Empty at first, curt, particular about what it is sent; its clock, orders and pages are as coarse
/// as they may be.
pub(crate) const MINIMAL: Choices = of_column("minimal", 1);

/// Drops repeats, removes twice and takes `PUT`; guards its assets, counts vaults and says 409 to
/// those who meet.
pub(crate) const TOLERANT: Choices = of_column("tolerant", 2);

/// Outputs are not in `images` (S-39), an account has at most so many vaults (S-62), and models take
/// no `imageInput` (S-38).
const SKIPS: [&[&str]; 3] = [
    &[],
    &[
        "generations.images.stay",
        "generations.images.fetched",
        "generations.images.distinct",
        "generations.output.ratio-default",
    ],
    &["vaults.list.whole", "generations.inputs.image"],
];

const MODELS: [[&str; 2]; 3] = [
    ["contrary/still", "contrary/moving/picture"],
    ["acme.models-2/s", "acme.models-2/m:1"],
    ["studio/a", "studio/b"],
];

/// S-33, S-40: before and in the midst, and after a failure.
const STATES: [[&str; 3]; 3] = [
    ["waiting in line", "almost completed", "gone wrong"],
    ["", "42 %", "error"],
    ["", "42 %", "error"],
];

/// S-74: of a success and of an error.
const CONTENT_TYPES: [[&str; 2]; 3] = [
    ["Application/JSON;charset=\"UTF-8\"", "application/problem+json"],
    ["application/vnd.api+json", "application/json"],
    ["application/json", "application/json"],
];

const COVER: Option<&str> = Some("https://cdn.example/cover?size=large&v=1#top");

/// Switches that are on in one or two of them, by their first letters.
const V: [bool; 3] = [true, false, false];
const M: [bool; 3] = [false, true, false];
const T: [bool; 3] = [false, false, true];
const VT: [bool; 3] = [true, false, true];
const MT: [bool; 3] = [false, true, true];

// A note says what the switch does; where it says "else", what is done where it is off.
choices! {
    records: Records {
        root: &'static str = ["/tenants/7/api/v1", "/api/v1", "/eu/api/v1"]; // Of the addresses.
        namespace: &'static str = ["contrary", "acme.models-2", "studio"]; // S-12: of a `modelId`.
        foreign_things: usize = [130, 0, 3]; // Of other programs, there from the start.
        whole_seconds: bool = M; // S-08, S-20, S-24, S-25, S-63, S-78; equal dates in an odd order.
        random_ids: bool = V; // S-64: beyond 2^53; else falling from just above 2^32.
        restless_status: bool = M; // S-04: changes with each read; else with the vaults.
        image_url_shown: bool = V; // S-05, S-06: `imageUrl` is an entry of `images`.
        vault_ids_fall: bool = V; // S-07: descending; else another order each time.
        access_type: Option<&'static str> = [Some("owner"), None, None]; // S-13.
        cover: Option<&'static str> = [None, COVER, None]; // S-15: else an image of its prompts.
        slugs_follow: bool = MT; // S-16: an id in the slug; else as it was made, with capitals.
        unique_names: bool = V; // S-17: a name can be had once.
        late_general: bool = M; // S-18: General is made when it is first needed, and locked.
        vaults_max: Option<usize> = [None, None, Some(100)]; // S-62: of an account.
        vaults_age: bool = V; // S-19: their `updatedAt` moves with the contents; else never.
        general_by_default: bool = V; // S-72: where a prompt without `vaultId` goes.
        platform: Option<&'static str> = [Some("any"), Some(""), None]; // S-73: if never given.
        description: Option<&'static str> = [Some(""), None, None]; // S-73.
        forks_differ: bool = V; // S-22: name, order, pins, dates, images; else in General too.
    }
    wire: Wire {
        extras: bool = V; // S-32, S-68, S-70: unknown keys, `details` and `pagination` always.
        details: bool = VT; // S-60: they say what is wrong; else they are `{}`.
        spread_out: bool = V; // Chunked, over many lines, in ASCII; else compact, with a length.
        hangs_up: bool = M; // Every answer closes its connection; header names have capitals.
        more_headers: bool = M; // S-52, S-59, S-69: cookies and others.
        content_types: [&'static str; 2] = CONTENT_TYPES;
        words: Option<&'static str> = [None, Some("Nein"), None]; // S-53, S-74: of every error.
        busy_every: Option<u64> = [None, Some(211), None]; // S-62: every n-th request gets 429.
    }
    keys: Keys {
        reads_need_scope: bool = V; // S-50.
        contents_need_scope: bool = MT; // S-48, S-51: save and contents need `prompts:write`.
        trimmed: bool = V; // S-52: spaces around a key are passed over.
        body_first: bool = M; // S-56: the body is looked at before the scope.
        lenient_methods: bool = VT; // S-59, S-61: `HEAD`, `OPTIONS`, a trailing slash; else 404.
        puts: bool = T; // S-61: `PUT` updates as `PATCH` does.
    }
    lists: Lists {
        by_title: bool = VT; // S-01: else in an order that means nothing.
        long_cursors: bool = M; // S-02: bound to their list; else odd numbers, good for any.
        strict_queries: bool = V; // S-03, S-84: nothing unknown; else the last of repeated ones.
    }
    bodies: Bodies {
        platform_needs_text: bool = V; // S-09: `null` and an empty one are refused.
        web_only: bool = V; // S-11: `http` and `https` only, no repeats; else any scheme.
        round_floats: bool = V; // S-65: `1.0` is an integer.
        trimmed: bool = V; // S-37, S-66: blank is refused; else counts what a reader sees as one.
        known_fields_only: bool = V; // S-67: with any content type; else the other way round.
        repeats_dropped: bool = T; // S-26: of `promptIds`, before they are counted.
        ratios_only: bool = T; // S-66: `aspectRatio` is two numbers with a colon.
        twins_refused: bool = MT; // S-75: a key that stands twice; else the last one counts.
    }
    moves: Moves {
        first_pin_on_top: bool = V; // S-24.
        adding_renews: bool = V; // S-26: adding again is a new membership, saving is refused.
        adds_in_part: bool = V; // S-27: those before a bad one are added.
        refuses_again: bool = V; // S-28, S-29: a move to where it is; else the one there is told.
        pins_move: bool = V; // S-30: the pin moves along.
        repeats: bool = T; // S-26, S-28, S-29: several memberships in a vault.
        any_vault: bool = T; // S-31: a membership is found through any vault of its owner.
        removes_again: bool = T; // S-31: removing what is not there is a success.
        conflicts: bool = T; // S-76: 409 for a write while another one is at work.
        deletes_together: bool = M; // S-76: who asked before it was done is told of success.
    }
    jobs: Jobs {
        duration: i64 = [300, 40, 40]; // In milliseconds.
        states: [&'static str; 3] = STATES;
        state_member: &'static str = ["phase", "state", "state"]; // S-34: of `data`.
        strict_ids: bool = V; // S-36: used once and of plain signs; else it names the last job.
        capital_ids: bool = M; // S-12: a made id is in capitals.
        known_models_only: bool = V; // S-38: others and ratios are refused; else the job fails.
        in_images: bool = VT; // S-39: the outputs are entries of `images`.
        in_one_prompt: bool = T; // S-39: else each output is in a prompt of its own.
        nested_state: bool = [false; 3]; // S-34: the state is in an object within `data`.
        fails_without_vault: bool = V; // S-41: else its output is in no vault.
    }
    files: Files {
        on_another_host: bool = V; // At another port, speaks XML, addresses have a query.
        hangs_up: bool = M; // S-43: too large a body is not read, and the connection closed.
        needs_length: bool = V; // S-43: a body has to say its length.
        any_type: bool = MT; // S-43: any `Content-Type`; the file has the declared one.
        key_to_read: bool = T; // S-45: reading needs an API key.
        looks_inside: bool = V; // S-44: the first bytes have to be those of the type.
        delay: i64 = [120, 0, 0]; // S-45: milliseconds until it is live.
        redirects: bool = V; // S-45, S-77.
        images_go: bool = V; // S-06, S-45: images that were made go with their prompt.
    }
    // Statuses that are nobody's rule.
    statuses: Statuses {
        locked: u16 = [423, 403, 403]; // S-14.
        name_taken: u16 = [409, 400, 400]; // S-17.
        system: u16 = [409, 403, 403]; // S-18.
        own_fork: u16 = [409, 400, 400]; // S-22, S-23.
        there_already: u16 = [409, 400, 400]; // S-26, S-28, S-29.
        elsewhere: u16 = [409, 410, 410]; // S-31.
        no_member: u16 = [404, 410, 404]; // S-31.
        absent: u16 = [422, 404, 404]; // S-27, S-57.
        foreign: u16 = [403, 404, 404]; // S-27, S-57.
        no_id: u16 = [400, 404, 404]; // S-58: an id in a path that is no integer.
        no_job: u16 = [422, 410, 200]; // S-35: 200 with a state of its own.
        foreign_job: u16 = [403, 410, 200]; // S-35.
        id_taken: u16 = [409, 400, 400]; // S-36.
        no_model: u16 = [422, 400, 422]; // S-38.
        token: u16 = [403, 401, 401]; // S-43.
        content_type: u16 = [422, 400, 400]; // S-43.
        size: u16 = [400, 413, 413]; // S-43.
        used: u16 = [409, 403, 403]; // S-43: a second time.
        no_asset: u16 = [403, 410, 404]; // S-45.
        keys: u16 = [403, 405, 405]; // S-46: `POST /api-keys` with a key.
        no_method: u16 = [404, 405, 405]; // S-59.
        no_json: u16 = [400, 415, 422]; // S-67: another content type.
        unreadable: u16 = [400, 400, 422]; // S-67: a body that is no JSON object.
    }
}

/// [`MINIMAL`], but with output that a client can find: for the tests of clients.
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
        foreign_things: 12,
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
    /// [`PLAIN`] with a bug. It lives as long as the program.
    pub(crate) fn with_bug(bug: &'static str) -> &'static Self {
        Box::leak(Box::new(Self { bug, ..PLAIN }))
    }
}
