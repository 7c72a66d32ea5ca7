//! Every fault: by hand, chapter by chapter as in `docs/reference/api.md`, and from tables.

mod auth;
mod contents;
mod envelope;
mod errors;
mod generations;
mod headers;
mod isolation;
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

const CHAPTERS: &[&[&[Fault]]] = &[
    &[envelope::ALL, headers::ALL, wire::ALL, stream::ALL, owned::ALL, narrow::ALL],
    &[pagination::ALL],
    prompts::ALL,
    &[
        vaults::ALL,
        vaults::object::ALL,
        vaults::counts::ALL,
        vaults::deletion::ALL,
        vaults::forks::ALL,
    ],
    &[
        contents::ALL,
        contents::pins::ALL,
        contents::adding::ALL,
        contents::removal::ALL,
        contents::moves::ALL,
    ],
    &[generations::ALL, generations::answer::ALL, generations::jobs::ALL],
    &[uploads::ALL, uploads::put::ALL, uploads::asset::ALL],
    &[keys::ALL, keys::made::ALL, keys::sessions::ALL, auth::ALL],
    &[errors::ALL],
    &[isolation::ALL],
    races::ALL,
];

pub(crate) fn all() -> impl Iterator<Item = &'static Fault> {
    CHAPTERS.iter().copied().flatten().copied().flatten().chain(made::ALL.iter())
}
