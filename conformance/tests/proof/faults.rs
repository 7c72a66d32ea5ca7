//! Every fault, by hand, chapter by chapter as in `docs/api.md`.

mod contents;
mod envelope;
mod errors;
mod generations;
mod isolation;
mod keys;
mod pagination;
mod prompts;
mod uploads;
mod vaults;

use crate::fault::Fault;

const CHAPTERS: &[&[&[Fault]]] = &[
    &[envelope::ALL],
    &[pagination::ALL],
    prompts::ALL,
    &[
        vaults::ALL,
        vaults::object::ALL,
        vaults::list::ALL,
        vaults::counts::ALL,
        vaults::deletion::ALL,
        vaults::forks::ALL,
        vaults::copies::ALL,
    ],
    &[
        contents::ALL,
        contents::pins::ALL,
        contents::adding::ALL,
        contents::removal::ALL,
        contents::moves::ALL,
    ],
    &[generations::ALL, generations::answer::ALL, generations::jobs::ALL],
    &[uploads::ALL, uploads::put::ALL],
    &[keys::ALL],
    &[errors::ALL],
    &[isolation::ALL],
];

pub(crate) fn all() -> impl Iterator<Item = &'static Fault> {
    CHAPTERS.iter().copied().flatten().copied().flatten()
}
