//! A server that lets pass what the others refuse, and keeps what they give away.

use super::{Bodies, Choices, Files, Jobs, Keys, Lists, MINIMAL, Moves, Records, Statuses, Wire};

/// Drops repeats, removes twice, takes `PUT` and uploads without a token; guards its assets,
/// counts vaults and says 409 to those who meet.
pub(crate) const TOLERANT: Choices = Choices {
    name: "tolerant",
    root: "/eu/api/v1",
    namespace: "studio",
    models: ["studio/a", "studio/b"],
    skips: &[
        // An account has at most so many vaults (S-62).
        "vaults.list.whole",
    ],
    foreign_things: 3,
    wire: Wire {
        details: true,
        hangs_up: false,
        more_headers: false,
        content_types: ["application/json", "application/json"],
        words: None,
        busy_every: None,
        ..MINIMAL.wire
    },
    keys: Keys {
        contents_need_scope: true,
        body_first: false,
        lenient_methods: true,
        puts: true,
        ..MINIMAL.keys
    },
    lists: Lists { by_title: true, long_cursors: false, empty_pages: false, strict_queries: false },
    records: Records {
        whole_seconds: false,
        restless_status: false,
        cover: None,
        late_general: false,
        general_is_system: false,
        vaults_max: Some(100),
        platform: None,
        ..MINIMAL.records
    },
    bodies: Bodies { repeats_dropped: true, ratios_only: true, ..MINIMAL.bodies },
    moves: Moves {
        repeats: true,
        any_vault: true,
        removes_again: true,
        conflicts: true,
        deletes_together: false,
        ..MINIMAL.moves
    },
    jobs: Jobs { in_images: true, in_one_prompt: true, capital_ids: false, ..MINIMAL.jobs },
    files: Files { any_token: true, key_to_read: true, hangs_up: false, ..MINIMAL.files },
    statuses: Statuses {
        no_member: 404,
        no_job: 200,
        foreign_job: 200,
        no_model: 422,
        no_json: 422,
        unreadable: 422,
        no_asset: 404,
        ..MINIMAL.statuses
    },
};
