//! What nearly every file of scenarios uses.

pub(crate) use promptarium_conformance::scenarios::core::errors::names_exactly;
pub(crate) use promptarium_conformance::scenarios::endpoints::{self, Endpoint, Ids, absent};
pub(crate) use promptarium_conformance::scenarios::prelude::*;
pub(crate) use promptarium_conformance::scenarios::shared::credentials::{
    hides, main_bearer, main_key, mistyped, parts_of,
};
pub(crate) use promptarium_conformance::scenarios::shared::job::{
    FAIL, Job, Outputs, PLASMA, PLASMA_VIDEO, REFUSE, body, failing, fetch, own_id, refused, send,
    slow, status,
};
pub(crate) use promptarium_conformance::scenarios::shared::pictures::{
    of_all_types, png, png_of_size,
};
pub(crate) use promptarium_conformance::scenarios::shared::slot::{Slot, ask, uploaded_urls};

pub(crate) use crate::session::Session;
