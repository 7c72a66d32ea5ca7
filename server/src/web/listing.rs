//! What a list of prompts shows: its filters, and the pages before and after.

use promptarium::PromptId;
use url::form_urlencoded;

use super::forms::Entered;
use super::parts::address;
use crate::api::Api;
use crate::api::prompts::KINDS;
use crate::domain::{Place, PromptPage, PromptSearch};
use crate::http::validate::{FieldErrors, form_fields, id, one_of, text};

/// Fields of the query that choose prompts; a link to another page keeps them.
const FILTERS: [&str; 4] = ["q", "vaultId", "type", "view"];
const QUERY: &[&str] = &["q", "vaultId", "type", "view", "after", "trail"];
/// Views of a list: value and name.
pub(super) const VIEWS: &[(&str, &str)] = &[("grid", "Grid"), ("list", "List")];
/// The value of `vaultId` for prompts in no vault.
pub(super) const NO_VAULT: &str = "none";

/// Prompts in a page: so few, and their texts so short, that none is left out for its size.
const PAGE_PROMPTS: usize = 20;
/// Characters of a search.
const SEARCH_CHARS_MAX: usize = 200;
/// Pages that the link to the previous page remembers.
const TRAIL_MAX: usize = 200;

/// What a list shows.
pub(super) struct Listing {
    pub(super) search: PromptSearch,
    /// Whether a text was searched for.
    pub(super) is_search: bool,
    /// Where the pages before this one began, the first one left out.
    pub(super) trail: Vec<i64>,
    pub(super) entered: Vec<(&'static str, String)>,
}

impl Listing {
    pub(super) fn parse(query: &[u8]) -> Result<Self, FieldErrors> {
        let mut form = form_fields(query, QUERY);
        let q = form.optional("q", text(0..=SEARCH_CHARS_MAX));
        let place = form.optional("vaultId", |field| match field.raw() {
            NO_VAULT => Ok(Place::NoVault),
            _ => id(field).map(Place::Vault),
        });
        let kind = form.optional("type", one_of(KINDS));
        form.optional("view", one_of(VIEWS));
        let after = form.optional("after", id::<PromptId>);
        let trail = form.optional("trail", |field| {
            let ids = field.raw().split('.').map(str::parse).collect::<Result<Vec<i64>, _>>();
            ids.map_err(|_| "must be that of a link to a page".to_owned())
        });
        form.finish()?;
        let entered = Entered::parse(query);
        let entered = FILTERS.map(|name| (name, entered.value(name).to_owned()));
        let words = PromptSearch::words(q.as_deref().unwrap_or_default());
        let (place, limit) = (place.unwrap_or_default(), PAGE_PROMPTS);
        Ok(Self {
            search: PromptSearch { words, place, kind, after, limit },
            is_search: q.is_some(),
            trail: trail.unwrap_or_default(),
            entered: entered.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
        })
    }

    pub(super) fn entered(&self, name: &str) -> &str {
        self.entered.iter().find(|(field, _)| *field == name).map_or("", |(_, value)| value)
    }

    pub(super) fn is_list(&self) -> bool {
        self.entered("view") == "list"
    }

    pub(super) fn is_filtered(&self) -> bool {
        self.is_search || self.search.kind.is_some() || self.search.place != Place::Anywhere
    }

    /// The page of the same list that begins after this prompt.
    pub(super) fn page(&self, api: &Api, after: Option<i64>, trail: &[i64]) -> String {
        let text = |number: &i64| number.to_string();
        let (after, trail) =
            (after.map(|id| text(&id)), trail.iter().map(text).collect::<Vec<_>>());
        let trail = (!trail.is_empty()).then(|| trail.join("."));
        let filters = self.entered.iter().map(|(name, value)| (*name, Some(&**value)));
        let mut fields = filters.collect::<Vec<_>>();
        fields.extend([("after", after.as_deref()), ("trail", trail.as_deref())]);
        api.site.page(&address("prompts", &fields))
    }

    /// The page before this one, if there is one.
    pub(super) fn previous(&self, api: &Api) -> Option<String> {
        self.search.after?;
        let before = self.trail.split_last();
        Some(before.map_or_else(
            || self.page(api, None, &[]),
            |(last, others)| self.page(api, Some(*last), others),
        ))
    }

    pub(super) fn next(&self, api: &Api, page: &PromptPage) -> Option<String> {
        let last = page.prompts.last().filter(|_| page.more)?.id.get();
        let mut trail = self.trail.clone();
        trail.extend(self.search.after.map(PromptId::get));
        let from = trail.len().saturating_sub(TRAIL_MAX);
        Some(self.page(api, Some(last), &trail[from..]))
    }
}

/// The address of a list with the filters of this query.
pub(super) fn same_list(query: &str) -> String {
    let known = form_urlencoded::parse(query.as_bytes()).filter_map(|(name, value)| {
        let name = FILTERS.into_iter().find(|known| *known == name)?;
        Some((name, value)).filter(|(_, value)| !value.is_empty())
    });
    let known = known.collect::<Vec<_>>();
    let fields = known.iter().map(|(name, value)| (*name, Some(&**value)));
    address("prompts", &fields.collect::<Vec<_>>())
}
