//! Faults at the limits of a prompt's fields.

use super::WRITES;
use crate::bounds::{
    bytes, characters, empty_taken, list_refused, list_taken, text_refused, text_taken, utf16_units,
};
use crate::fault::{Fault, fault};

pub(super) const ALL: &[Fault] = &[
    fault!(
        "prompts.title-121",
        "A title of 121 characters is accepted, and cut.",
        ["LI-02", "ER-06"],
        text_taken(WRITES, "title", 121)
    ),
    fault!(
        "prompts.title-121-on-update",
        "An update accepts a title of 121 characters.",
        ["LI-02", "ER-06"],
        text_taken("PATCH /prompts/*", "title", 121)
    ),
    fault!(
        "prompts.title-120",
        "A title of 120 characters is refused.",
        ["LI-02"],
        text_refused(WRITES, "title", 119, characters)
    ),
    fault!(
        "prompts.title-empty",
        "A create accepts an empty title.",
        ["LI-02", "ER-06", "ER-03"],
        empty_taken("POST /prompts", "title")
    ),
    fault!(
        "prompts.title-empty-on-update",
        "An update accepts an empty title.",
        ["LI-02", "ER-06", "ER-03", "PR-10"],
        empty_taken("PATCH /prompts/*", "title")
    ),
    fault!(
        "prompts.title-in-bytes",
        "The length of a title is counted in bytes.",
        ["LI-02"],
        text_refused(WRITES, "title", 120, bytes)
    ),
    fault!(
        "prompts.title-in-utf16",
        "The length of a title is counted in UTF-16 units.",
        ["LI-02"],
        text_refused(WRITES, "title", 120, utf16_units)
    ),
    fault!(
        "prompts.text-15001",
        "A text of 15001 characters is accepted, and cut.",
        ["LI-03", "ER-06"],
        text_taken(WRITES, "prompt", 15_001)
    ),
    fault!(
        "prompts.text-15000",
        "A text of 15000 characters is refused.",
        ["LI-03"],
        text_refused(WRITES, "prompt", 14_999, characters)
    ),
    fault!(
        "prompts.text-empty",
        "A create accepts an empty text.",
        ["LI-03", "ER-06", "ER-03"],
        empty_taken("POST /prompts", "prompt")
    ),
    fault!(
        "prompts.text-in-bytes",
        "The length of a text is counted in bytes.",
        ["LI-03"],
        text_refused(WRITES, "prompt", 15_000, bytes)
    ),
    fault!(
        "prompts.aspect-ratio-21",
        "An aspectRatio of 21 characters is accepted.",
        ["LI-04", "ER-06", "ER-03"],
        text_taken(WRITES, "aspectRatio", 21)
    ),
    fault!(
        "prompts.aspect-ratio-20",
        "An aspectRatio of 20 characters is refused.",
        ["LI-04", "ER-03"],
        text_refused(WRITES, "aspectRatio", 19, characters)
    ),
    fault!(
        "prompts.references-11",
        "11 referenceMediaUrls are accepted.",
        [
            "LI-05", "ER-06", "PG-06", "ER-05", "ER-03", "PR-44", "VC-21", "VC-20", "ER-01",
            "ER-10", "PR-32", "PR-35", "VC-15", "EN-02", "PR-15", "PR-38", "VA-33", "AU-07",
            "ER-04", "LI-02", "PR-37", "VA-10", "ER-08", "PR-01", "VC-14", "AU-08", "ER-09",
            "PR-04", "PR-30", "PR-40", "VA-29", "VA-30", "VC-11", "AU-03", "EN-03", "EN-09",
            "LI-08", "PG-09", "PR-08", "PR-10", "PR-13", "VA-28", "VA-34", "VC-04", "VC-09",
            "VC-25", "AU-01", "AU-02", "LI-04", "PG-03", "PR-02", "PR-14", "PR-27", "PR-33",
            "PR-42", "UP-16", "VC-03", "VC-08", "VC-10", "VC-16", "VC-17", "VC-24", "VC-27",
            "EN-07", "EN-08", "LI-03", "PG-02", "PG-08", "PR-05", "PR-06", "PR-16", "PR-19",
            "PR-24", "PR-26", "PR-28", "PR-31", "VA-27", "VA-32", "VC-01", "VC-05", "VC-19",
            "VC-22", "VC-23", "AU-04", "AU-05", "AU-06", "EN-04", "EN-05", "EN-06", "ER-02",
            "KE-04", "PG-04", "PG-05", "PG-07", "PR-03", "PR-09", "PR-11", "PR-21", "PR-23",
            "PR-25", "PR-34", "PR-36", "PR-41", "PR-45", "PR-46", "VA-11", "VA-21", "VA-22",
            "VA-31", "VC-02", "VC-06", "VC-07", "VC-13", "VC-18", "VC-26", "VC-28", "VC-29",
            "VC-30"
        ],
        list_taken(WRITES, "referenceMediaUrls", 11)
    ),
    fault!(
        "prompts.references-10",
        "10 referenceMediaUrls are refused.",
        ["LI-05", "PR-39"],
        list_refused(WRITES, "referenceMediaUrls", 10)
    ),
];
