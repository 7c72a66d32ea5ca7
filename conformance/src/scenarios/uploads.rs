//! Uploads: the slot, the bytes to the storage, those who may not send them, and
//! the image at its address.
//!
//! The pictures are real, as a storage may look into them (S-44). Where nothing
//! may have been kept, its address is asked for it.

mod pictures;
pub(super) mod slot;

mod asset;
mod delivery;
mod put;
mod refusals;
mod request;

use crate::Scenario;

pub(super) const ALL: &[&[Scenario]] =
    &[request::ALL, put::ALL, refusals::ALL, asset::ALL, delivery::ALL];
