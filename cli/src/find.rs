//! Finds prompts and vaults by what people call them.

use std::future::ready;

use deunicode::deunicode_char;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use promptarium::request::ListPrompts;
use promptarium::{Client, Error, Prompt, PromptId, Vault, VaultId};
use slug::slugify;

use crate::app::{ABSENT, Failure, Result, USAGE};

/// The vault with this id, as ids are printed, or with this name.
pub(crate) async fn vault(client: &Client, name: &str) -> Result<Vault> {
    let vaults = client.vaults().list().await?;
    let with_id = vaults.iter().find(|vault| vault.id.to_string() == name).cloned();
    with_id.map_or_else(|| named(vaults, name), Ok)
}

/// The vault with this name, or else the only one that has it in another case or with other accents.
pub(crate) fn named(mut vaults: Vec<Vault>, name: &str) -> Result<Vault> {
    let all = vaults.iter().map(|vault| &*vault.name).collect::<Vec<_>>().join(", ");
    let is_exact = vaults.iter().any(|vault| vault.name == name);
    vaults.retain(|it| if is_exact { it.name == name } else { fold(&it.name) == fold(name) });
    one(vaults, |vault| vault.id.get(), &format!("vault \"{name}\""), &format!("there are: {all}"))
}

/// The id of the vault with this id or name, if one is given.
pub(crate) async fn vault_id(client: &Client, name: Option<&str>) -> Result<Option<VaultId>> {
    let Some(name) = name else { return Ok(None) };
    vault(client, name).await.map(|vault| Some(vault.id))
}

/// The prompt with this id or title, or else the only one whose title has this in it.
pub(crate) async fn prompt(client: &Client, name: &str) -> Result<Prompt> {
    // As ids are printed: `007` and `+7` are titles.
    let id = name.parse().ok().filter(|id: &i64| id.to_string() == name);
    if let Some(id) = id.map(PromptId::new)
        && let Some(prompt) = client.prompts().get_opt(id).await?
    {
        return Ok(prompt);
    }
    // It is a part of every title.
    if name.trim().is_empty() {
        return Err(Failure::new(USAGE, "neither a title nor an id is given"));
    }
    let mut found: Vec<_> = search(client.prompts().list(), name).await?.try_collect().await?;
    let (folded, title) = (fold(name), |prompt: &Prompt| fold(&prompt.title));
    let is_exact = found.iter().any(|prompt| title(prompt) == folded);
    found.retain(|it| if is_exact { title(it) == folded } else { title(it).contains(&folded) });
    let hint = "search for some of its words";
    one(found, |prompt| prompt.id.get(), &format!("prompt \"{name}\""), hint)
}

pub(crate) async fn prompts(client: &Client, names: &[String]) -> Result<Vec<Prompt>> {
    stream::iter(names).then(|name| prompt(client, name)).try_collect().await
}

fn one<T>(mut found: Vec<T>, id: fn(&T) -> i64, what: &str, hint: &str) -> Result<T> {
    let ids: Vec<_> = found.iter().take(10).map(|it| id(it).to_string()).collect();
    match found.pop() {
        Some(one) if found.is_empty() => Ok(one),
        None => Err(Failure::new(ABSENT, format!("there is no {what}")).hint(hint)),
        Some(_) => Err(Failure::new(USAGE, format!("there is more than one {what}"))
            .hint(format!("give an id, such as {}", ids.join(", ")))),
    }
}

type Found = BoxStream<'static, std::result::Result<Prompt, Error>>;

/// The prompts of the list that have all of these words. The server is asked to search. One that
/// does not know the parameter refuses it, or returns every prompt; then this program searches.
pub(crate) async fn search(list: ListPrompts, words: &str) -> Result<Found> {
    let asked = list.clone().set_search(Some(words).filter(|words| !words.trim().is_empty()));
    let words = fold(words).replace('"', " ");
    let (first, filters) = match asked.clone().page().await {
        Err(error) if error.is_invalid() => (list.clone().page().await?, true),
        page => {
            let page = page?;
            // The server may know better what matches. No prompt has this word.
            let probe = list.clone().search("qzxvjwkqzxvjwk").page_size(1);
            let is_doubtful = !page.items.iter().all(|prompt| has_all(prompt, &words));
            (page, is_doubtful && !probe.page().await.is_ok_and(|page| page.items.is_empty()))
        }
    };
    let list = if filters { list } else { asked };
    let rest = first.next_cursor.map(|cursor| list.cursor(cursor).items());
    let found = stream::iter(first.items.into_iter().map(Ok)).chain(stream::iter(rest).flatten());
    Ok(found.try_filter(move |it| ready(!filters || has_all(it, &words))).boxed())
}

fn has_all(prompt: &Prompt, words: &str) -> bool {
    let platform = prompt.platform.as_deref().unwrap_or_default();
    let text = fold(&[&prompt.title, &*prompt.text, platform].join("\n"));
    words.split_whitespace().all(|word| text.contains(word))
}

/// A name for a file or an entry of a menu.
pub(crate) fn slug(text: &str, chars_max: usize) -> String {
    let slug: String = slugify(text).chars().take(chars_max).collect();
    let slug = slug.trim_end_matches('-');
    // A program takes a name that begins with "-" as an option.
    if slug.is_empty() { "prompt".to_owned() } else { slug.to_owned() }
}

/// The text in lower case, without the accents of Latin letters.
pub(crate) fn fold(text: &str) -> String {
    let plain = text.chars().filter(|char| !('\u{300}'..'\u{370}').contains(char));
    let ascii = |char| deunicode_char(char).filter(|_| char < '\u{250}').map(str::to_lowercase);
    plain.map(|char| ascii(char).unwrap_or_else(|| char.to_lowercase().collect())).collect()
}
