//! What most pages use.

pub(super) use maud::{Markup, html};
pub(super) use serde_json::json;

pub(super) use super::forms::{Choices, Entered, Field, Form, Input};
pub(super) use super::layout::{Page, done_address, redirect};
pub(super) use super::parts::{
    PAGE, address, counted, full_text, job_page, list as list_of, page_number, pager, pages,
    shortened, tile, titled, typed, words,
};
pub(super) use super::visit::Visit;
pub(super) use crate::api::{Api, HandlerResult};
pub(super) use crate::http::error::ApiError;
pub(super) use crate::http::validate::{FieldErrors, form_fields};
