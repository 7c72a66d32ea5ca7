//! What a list of prompts shows: its filters, and the pages before and after.

use promptarium::PromptId;

use super::forms::Entered;
use super::parts::{PAGE, address};
use crate::domain::{Place, PromptKind, PromptPage, PromptSearch};
use crate::http::validate::{FieldErrors, form_fields, id, one_of, text};

/// Fields of the query that choose prompts; a link to another page keeps them.
const FILTERS: [&str; 4] = ["q", "vaultId", "type", "view"];
/// Views of a list: value and name.
pub(super) const VIEWS: &[(&str, &str)] = &[("grid", "Grid"), ("list", "List")];
/// The value of `vaultId` for prompts in no vault.
pub(super) const NO_VAULT: &str = "none";

/// Characters of a search.
const SEARCH_CHARS_MAX: usize = 200;
/// Pages that the link to the previous page remembers.
const PAGES_MAX: usize = 200;

/// What a list shows.
pub(super) struct Listing {
    pub(super) search: PromptSearch,
    /// Whether a text was searched for.
    pub(super) is_search: bool,
    /// After which prompts this page and those before it begin, without the first page.
    pub(super) after: Vec<i64>,
    pub(super) entered: Entered,
}

impl Listing {
    pub(super) fn parse(query: &[u8]) -> Result<Self, FieldErrors> {
        let mut form = form_fields(query, &["q", "vaultId", "type", "view", "after"]);
        let q = form.optional("q", text(0..=SEARCH_CHARS_MAX));
        let place = form.optional("vaultId", |field| match field.raw() {
            NO_VAULT => Ok(Place::NoVault),
            _ => id(field).map(Place::Vault),
        });
        let kind = form.optional("type", one_of(PromptKind::ALL));
        form.optional("view", one_of(VIEWS));
        let after = form.optional("after", |field| {
            let ids = field.raw().split('.').map(str::parse).collect::<Result<Vec<i64>, _>>();
            ids.map_err(|_| "must be that of a link to a page".to_owned())
        });
        form.finish()?;
        let words = PromptSearch::words(q.as_deref().unwrap_or_default());
        let (place, limit, after) = (place.unwrap_or_default(), PAGE, after.unwrap_or_default());
        let last = after.last().copied().map(PromptId::new);
        Ok(Self {
            search: PromptSearch { words, place, kind, after: last, limit },
            is_search: q.is_some(),
            after,
            entered: Entered::parse(query),
        })
    }

    pub(super) fn is_list(&self) -> bool {
        self.entered.value("view") == "list"
    }

    pub(super) fn is_filtered(&self) -> bool {
        self.is_search || self.search.kind.is_some() || self.search.place != Place::Anywhere
    }

    /// The same list with another value of one field, from its first page on unless it is `after`.
    pub(super) fn with(&self, field: &str, value: &str) -> String {
        let filters = FILTERS.into_iter().filter(|name| *name != field);
        let filters = filters.map(|name| (name, self.entered.value(name)));
        address("prompts", filters.chain([(field, value)]))
    }

    /// The page of the same list that begins after the last one of these prompts.
    pub(super) fn page(&self, after: &[i64]) -> String {
        let after = &after[after.len().saturating_sub(PAGES_MAX)..];
        let after = after.iter().map(i64::to_string).collect::<Vec<_>>().join(".");
        self.with("after", &after)
    }

    /// The page before this one, if there is one.
    pub(super) fn previous(&self) -> Option<String> {
        self.after.split_last().map(|(_, before)| self.page(before))
    }

    pub(super) fn next(&self, page: &PromptPage) -> Option<String> {
        let last = page.prompts.last().filter(|_| page.more)?.id.get();
        Some(self.page(&[&*self.after, &[last]].concat()))
    }
}
