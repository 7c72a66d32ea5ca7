//! Faults at the limits of a prompt's fields.

use super::WRITES;
use crate::bounds::{
    bytes, characters, empty_taken, list_refused, list_taken, text_refused, text_taken, utf16_units,
};
use crate::fault::{Fault, fault};

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "prompts.title-121" ["LI-02"] text_taken(WRITES, "title", 120),
        "A title of 121 characters is accepted, and cut." },
    fault! { "prompts.title-121-on-update" ["LI-02"] text_taken("PATCH /prompts/*", "title", 120),
        "An update accepts a title of 121 characters." },
    fault! { "prompts.title-empty" ["LI-02"] empty_taken("POST /prompts", "title"),
        "A create accepts an empty title." },
    fault! { "prompts.title-empty-on-update" ["LI-02"] empty_taken("PATCH /prompts/*", "title"),
        "An update accepts an empty title." },
    fault! { "prompts.title-in-bytes" ["LI-02"] text_refused(WRITES, "title", 120, bytes),
        "The length of a title is counted in bytes." },
    fault! { "prompts.title-in-utf16" ["LI-02"] text_refused(WRITES, "title", 120, utf16_units),
        "The length of a title is counted in UTF-16 units." },
    fault! { "prompts.text-15001" ["LI-03"] text_taken(WRITES, "prompt", 15_000),
        "A text of 15001 characters is accepted, and cut." },
    fault! { "prompts.text-empty" ["LI-03"] empty_taken("POST /prompts", "prompt"),
        "A create accepts an empty text." },
    fault! { "prompts.text-in-bytes" ["LI-03"] text_refused(WRITES, "prompt", 15_000, bytes),
        "The length of a text is counted in bytes." },
    fault! { "prompts.aspect-ratio-21" ["LI-04"] text_taken(WRITES, "aspectRatio", 20),
        "An aspectRatio of 21 characters is accepted." },
    fault! { "prompts.aspect-ratio-20" ["LI-04"]
        text_refused(WRITES, "aspectRatio", 19, characters),
        "An aspectRatio of 20 characters is refused." },
    fault! { "prompts.references-11" ["LI-05"] list_taken(WRITES, "referenceMediaUrls", 10),
        "11 referenceMediaUrls are accepted." },
    fault! { "prompts.references-10" ["LI-05"] list_refused(WRITES, "referenceMediaUrls", 9),
        "10 referenceMediaUrls are refused." },
];
