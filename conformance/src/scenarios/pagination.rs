//! Pages and cursors of `GET /prompts`.

mod changes;
mod cursors;
mod limit;
mod pages;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[pages::ALL, limit::ALL, cursors::ALL, changes::ALL];
