//! What most pages use.

pub(super) use std::future::ready;

pub(super) use futures::future::join_all;
pub(super) use maud::{Markup, html};
pub(super) use promptarium::{PromptId, VaultId};
pub(super) use serde_json::json;

pub(super) use super::forms::{Choices, Entered, Field, Form, Input, options, without_replaced};
pub(super) use super::layout::{Page, done_address, redirect};
pub(super) use super::parts::{
    PAGE, address, counted, full_text, job_page, list as list_of, page_number, pager, pages,
    shortened, tile, titled, typed, visible, with_variables, words,
};
pub(super) use super::pictures::{
    chosen_settings, cover, generation_settings, pictures, small_picture, thumbnail,
};
pub(super) use super::visit::Visit;
pub(super) use crate::api::{Api, HandlerResult};
pub(super) use crate::domain::*;
pub(super) use crate::http::error::ApiError;
pub(super) use crate::http::validate::{FieldErrors, form_fields, id, integer, one_of, text};
pub(super) use crate::store::StoreError;
