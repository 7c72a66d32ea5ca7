//! Finds prompts and vaults by what people call them.

use deunicode::deunicode_char;
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};
use promptarium::{Client, Cursor, Error, Page, Prompt, PromptId, PromptType, Vault, VaultId};
use serde::Deserialize;

use crate::failure::{ABSENT, Failure, Result, USAGE};

/// The vault with this id or name.
pub(crate) async fn vault(client: &Client, name: &str) -> Result<Vault> {
    let mut vaults = client.vaults().list().await?;
    let all = vaults.iter().map(|vault| vault.name.clone()).collect::<Vec<_>>().join(", ");
    let id = name.parse().ok().map(VaultId::new);
    let by_id = vaults.iter().any(|vault| Some(vault.id) == id);
    let is_meant = |vault: &Vault| match by_id {
        true => Some(vault.id) == id,
        false => fold(&vault.name) == fold(name),
    };
    vaults.retain(is_meant);
    one(vaults, |vault| vault.id.get(), &format!("vault \"{name}\""), &format!("there are: {all}"))
}

/// The id of the vault with this id or name, if one is given.
pub(crate) async fn vault_id(client: &Client, name: Option<&str>) -> Result<Option<VaultId>> {
    let Some(name) = name else { return Ok(None) };
    vault(client, name).await.map(|vault| Some(vault.id))
}

/// The prompt with this id or title, or else the only one whose title has this in it.
pub(crate) async fn prompt(client: &Client, name: &str) -> Result<Prompt> {
    let mut found: Vec<_> = match name.parse() {
        Ok(id) => client.prompts().get_opt(PromptId::new(id)).await?.into_iter().collect(),
        Err(_) => search(client, name, Place::default()).try_collect().await?,
    };
    if name.parse::<i64>().is_err() {
        let (name, title) = (fold(name), |prompt: &Prompt| fold(&prompt.title));
        let is_exact = found.iter().any(|prompt| title(prompt) == name);
        found.retain(|it| if is_exact { title(it) == name } else { title(it).contains(&name) });
    }
    let hint = "promptarium ls and promptarium search WORDS show what there is";
    one(found, |prompt| prompt.id.get(), &format!("prompt \"{name}\""), hint)
}

fn one<T>(mut found: Vec<T>, id: fn(&T) -> i64, what: &str, hint: &str) -> Result<T> {
    let ids: Vec<_> = found.iter().map(|it| id(it).to_string()).collect();
    match found.pop() {
        Some(one) if found.is_empty() => Ok(one),
        None => Err(Failure::new(ABSENT, format!("there is no {what}")).hint(hint)),
        Some(_) => Err(Failure::new(USAGE, format!("there is more than one {what}"))
            .hint(format!("give one of the ids: {}", ids.join(", ")))),
    }
}

/// Where prompts are looked for.
#[derive(Clone, Default)]
pub(crate) struct Place {
    pub(crate) vault: Option<VaultId>,
    pub(crate) prompt_type: Option<PromptType>,
}

type Found<T> = std::result::Result<T, Error>;

/// The prompts that have all of these words, newest first.
///
/// The server is asked to search. One that does not know the parameter refuses it, or returns
/// every prompt; then this program searches.
pub(crate) fn search(
    client: &Client,
    words: &str,
    place: Place,
) -> impl Stream<Item = Found<Prompt>> + Send + use<> {
    let (client, words) = (client.clone(), words.to_owned());
    let search = Search { client, words, place, asks: true, trusts: None };
    let pages = stream::try_unfold(Some((search, None)), |state| async move {
        let Some((mut search, cursor)) = state else { return Ok::<_, Error>(None) };
        let page = search.page(cursor).await?;
        let next = page.next_cursor.map(|cursor| (search, Some(cursor)));
        Ok(Some((stream::iter(page.items.into_iter().map(Ok)), next)))
    });
    pages.try_flatten().boxed()
}

struct Search {
    client: Client,
    words: String,
    place: Place,
    /// Whether the parameter is sent.
    asks: bool,
    /// Whether the server searches; `None` until a prompt makes it doubtful.
    trusts: Option<bool>,
}

#[derive(Deserialize)]
struct Envelope {
    data: Vec<Prompt>,
    pagination: Pagination,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    next_cursor: Option<Cursor>,
}

impl Search {
    async fn page(&mut self, cursor: Option<Cursor>) -> Found<Page<Prompt>> {
        let mut page = match self.request(cursor.as_ref(), &self.words, 100).await {
            Err(error) if error.is_invalid() && self.asks && cursor.is_none() => {
                (self.asks, self.trusts) = (false, Some(false));
                self.request(None, "", 100).await?
            }
            page => page?,
        };
        let words = fold(&self.words);
        let has_all = |prompt: &Prompt| {
            let platform = prompt.platform.as_deref().unwrap_or_default();
            let text = fold(&[&prompt.title, &*prompt.text, platform].join("\n"));
            words.split_whitespace().all(|word| text.contains(word))
        };
        if self.trusts.is_none() && !page.items.iter().all(has_all) {
            // The server may know better what matches. No prompt has this word.
            let probe = self.request(None, "qzxvjwkqzxvjwk", 1).await;
            self.trusts = Some(probe.is_ok_and(|page| page.items.is_empty()));
        }
        if self.trusts != Some(true) {
            page.items.retain(has_all);
        }
        Ok(page)
    }

    async fn request(
        &self,
        cursor: Option<&Cursor>,
        words: &str,
        limit: u32,
    ) -> Found<Page<Prompt>> {
        let parameters = [
            ("q", self.asks.then(|| words.to_owned())),
            ("cursor", cursor.map(Cursor::to_string)),
            ("vaultId", self.place.vault.map(|id| id.to_string())),
            ("type", self.place.prompt_type.as_ref().map(PromptType::to_string)),
        ];
        let request = self.client.get("/prompts").query("limit", limit);
        let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let request = parameters.fold(request, |request, (name, value)| request.query(name, value));
        let Envelope { data, pagination } = request.await?.json()?;
        Ok(Page::new(data, pagination.next_cursor))
    }
}

/// The text in lower case, without the accents of Latin letters.
pub(crate) fn fold(text: &str) -> String {
    let plain = text.chars().filter(|char| !('\u{300}'..'\u{370}').contains(char));
    let ascii = |char| deunicode_char(char).filter(|_| char < '\u{250}').map(str::to_lowercase);
    plain.map(|char| ascii(char).unwrap_or_else(|| char.to_lowercase().collect())).collect()
}
