//! Every fault: by hand, chapter by chapter as in `docs/reference/api.md`, and from tables.

mod contents;
mod envelope;
mod errors;
mod generations;
pub(crate) mod isolation;
pub(crate) mod keys;
mod narrow;
mod owned;
mod pagination;
pub(super) mod prompts;
mod races;
mod stream;
mod uploads;
mod vaults;
mod wire;

use crate::fault::Fault;
use crate::made;

const CHAPTERS: &[&[Fault]] = &[
    envelope::ALL,
    wire::ALL,
    stream::ALL,
    owned::ALL,
    narrow::ALL,
    pagination::ALL,
    prompts::ALL,
    prompts::lists::ALL,
    vaults::ALL,
    vaults::forks::ALL,
    contents::ALL,
    contents::moves::ALL,
    generations::ALL,
    uploads::ALL,
    keys::ALL,
    errors::ALL,
    isolation::ALL,
    races::ALL,
];

pub(crate) fn all() -> impl Iterator<Item = &'static Fault> {
    CHAPTERS.iter().copied().flatten().chain(made::ALL.iter())
}
