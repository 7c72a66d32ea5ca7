//! Finds prompts and vaults by what people call them.

use deunicode::deunicode_char;
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};
use promptarium::{Client, Cursor, Error, Page, Prompt, PromptId, PromptType, Vault, VaultId};
use serde::Deserialize;

use crate::failure::{Failure, Result};

/// The vault with this id or name.
pub(crate) async fn vault(client: &Client, name: &str) -> Result<Vault> {
    let vaults = client.vaults().list().await?;
    let id = name.parse().ok().map(VaultId::new);
    let is_named = |vault: &&Vault| fold(&vault.name) == fold(name) || vault.slug == name;
    let mut found: Vec<_> = vaults.iter().filter(|vault| Some(vault.id) == id).collect();
    if found.is_empty() {
        found = vaults.iter().filter(is_named).collect();
    }
    let all = || vaults.iter().map(|vault| vault.name.clone()).collect::<Vec<_>>().join(", ");
    match found[..] {
        [vault] => Ok(vault.clone()),
        [] => Err(Failure::absent(format!("there is no vault \"{name}\""))
            .hint(format!("there are: {}", all()))),
        _ => {
            let ids: Vec<_> = found.iter().map(|vault| vault.id.to_string()).collect();
            Err(ambiguous("vaults", name, &ids))
        }
    }
}

/// The id of the vault with this id or name, if one is given.
pub(crate) async fn vault_id(client: &Client, name: Option<&str>) -> Result<Option<VaultId>> {
    match name {
        Some(name) => vault(client, name).await.map(|vault| Some(vault.id)),
        None => Ok(None),
    }
}

/// The prompt with this id or title, or else the only one whose title has these words.
pub(crate) async fn prompt(client: &Client, name: &str) -> Result<Prompt> {
    if let Ok(id) = name.parse() {
        let found = client.prompts().get_opt(PromptId::new(id)).await?;
        let absent = || Failure::absent(format!("there is no prompt {id}")).hint(SEE_ALL);
        return found.ok_or_else(absent);
    }
    let all: Vec<_> = search(client, name, Place::default()).try_collect().await?;
    let folded = fold(name);
    let mut found: Vec<_> = all.iter().filter(|prompt| fold(&prompt.title) == folded).collect();
    if found.is_empty() {
        found = all.iter().filter(|prompt| fold(&prompt.title).contains(&folded)).collect();
    }
    match found[..] {
        [prompt] => Ok(prompt.clone()),
        [] => Err(Failure::absent(format!("no prompt has the title \"{name}\"")).hint(SEE_ALL)),
        _ => {
            let ids: Vec<_> = found.iter().map(|prompt| prompt.id.to_string()).collect();
            Err(ambiguous("prompts", name, &ids))
        }
    }
}

const SEE_ALL: &str = "promptarium ls and promptarium search WORDS show what there is";

fn ambiguous(kind: &str, name: &str, ids: &[String]) -> Failure {
    let text = format!("{} {kind} are called \"{name}\"", ids.len());
    Failure::usage(text).hint(format!("give the id of one: {}", ids.join(", ")))
}

/// Where prompts are looked for.
#[derive(Clone, Default)]
pub(crate) struct Place {
    pub(crate) vault: Option<VaultId>,
    pub(crate) prompt_type: Option<PromptType>,
}

/// The prompts that have all of these words, newest first.
///
/// The server is asked to search. One that does not know the parameter refuses it, or returns
/// every prompt; then this program searches.
pub(crate) fn search(
    client: &Client,
    words: &str,
    place: Place,
) -> impl Stream<Item = std::result::Result<Prompt, Error>> + Send + use<> {
    let (client, words) = (client.clone(), words.to_owned());
    let state = Some((Searching { client, words, place, trusts: None, asks: true }, None));
    let pages = stream::try_unfold(state, |state| async move {
        let Some((mut searching, cursor)) = state else { return Ok::<_, Error>(None) };
        let Page { items, next_cursor, .. } = searching.page(cursor).await?;
        let next = next_cursor.map(|cursor| (searching, Some(cursor)));
        Ok(Some((stream::iter(items.into_iter().map(Ok)), next)))
    });
    pages.try_flatten().boxed()
}

struct Searching {
    client: Client,
    words: String,
    place: Place,
    /// Whether the server searches; `None` until a prompt makes it doubtful.
    trusts: Option<bool>,
    /// Whether the parameter is sent.
    asks: bool,
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

impl Searching {
    async fn page(&mut self, cursor: Option<Cursor>) -> std::result::Result<Page<Prompt>, Error> {
        let mut page = match self.request(cursor.clone(), &self.words, 100).await {
            Err(error) if error.is_invalid() && self.asks && cursor.is_none() => {
                (self.asks, self.trusts) = (false, Some(false));
                self.request(cursor, "", 100).await?
            }
            page => page?,
        };
        let folded = fold(&self.words);
        let has_all = |prompt: &Prompt| {
            let platform = prompt.platform.as_deref().unwrap_or_default();
            let text = fold(&[&prompt.title, &*prompt.text, platform].join("\n"));
            folded.split_whitespace().all(|word| text.contains(word))
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
        cursor: Option<Cursor>,
        words: &str,
        limit: u32,
    ) -> std::result::Result<Page<Prompt>, Error> {
        let mut request = self.client.get("/prompts").query("limit", limit);
        let parameters = [
            ("q", self.asks.then(|| words.to_owned())),
            ("cursor", cursor.map(|cursor| cursor.to_string())),
            ("vaultId", self.place.vault.map(|id| id.to_string())),
            ("type", self.place.prompt_type.as_ref().map(ToString::to_string)),
        ];
        for (name, value) in parameters {
            if let Some(value) = value {
                request = request.query(name, value);
            }
        }
        let Envelope { data, pagination } = request.await?.json()?;
        Ok(Page::new(data, pagination.next_cursor))
    }
}

/// The text in lower case, without the accents of Latin letters.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for char in text.chars().filter(|char| !('\u{300}'..'\u{370}').contains(char)) {
        match deunicode_char(char).filter(|_| char < '\u{250}') {
            Some(ascii) => folded.push_str(&ascii.to_lowercase()),
            None => folded.extend(char.to_lowercase()),
        }
    }
    folded
}
