//! Uploads: the slot, the bytes to the storage, those who may not send them, and
//! the image at its address.
//!
//! The pictures are real, as a storage may look into them (S-44). Where nothing
//! may have been kept, its address is asked for it.

mod pictures;
mod slot;

mod fields;
mod request;

mod content_types;
mod once;
mod put;
mod sizes;
mod tokens;

mod asset;
mod images;

mod delivery;
mod refusals;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] = &[
    request::ALL,
    request::choices::ALL,
    fields::ALL,
    put::ALL,
    tokens::ALL,
    content_types::ALL,
    sizes::ALL,
    once::ALL,
    refusals::ALL,
    asset::ALL,
    images::ALL,
    delivery::ALL,
];
