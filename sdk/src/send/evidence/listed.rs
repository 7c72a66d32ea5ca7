//! What a list proves about the open steps of a journal.

use std::collections::{HashMap, HashSet};

use icu_normalizer::ComposingNormalizerBorrowed;
use serde_json::{Value, json};

use super::Evidence;
use crate::model::Timestamp;

/// The fields by which a prompt or a vault is recognized, normalized: first the two texts, then
/// the others. `None` for a copy, of whose fields nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    fields: Option<[Value; 4]>,
    /// The two texts without case, spaces and punctuation.
    letters: String,
}

/// Without what services change in texts: spaces at the ends, line ends, Unicode normalization.
fn normalized(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    ComposingNormalizerBorrowed::new_nfc().normalize(text.trim()).into_owned()
}

impl Content {
    pub(crate) const COPY: Self = Self { fields: None, letters: String::new() };

    pub(crate) const OF_PROMPT: [&str; 4] = ["title", "prompt", "promptType", "platform"];

    pub(crate) const OF_VAULT: [&str; 4] = ["name", "description", "visibility", ""];

    /// Fields that are not set have the values that a call without them has.
    pub(crate) fn new(value: &Value, fields: [&str; 4]) -> Self {
        let fields = fields.map(|name| match (value.get(name), name) {
            (None | Some(Value::Null), "promptType") => json!("text"),
            (None | Some(Value::Null), "visibility") => json!("private"),
            (None | Some(Value::Null), "description") => json!(""),
            (Some(Value::String(text)), _) => json!(normalized(text)),
            (value, _) => value.cloned().unwrap_or_default(),
        });
        let texts = fields.iter().take(2).filter_map(Value::as_str).collect::<Vec<_>>();
        let is_dropped = |char: char| char.is_whitespace() || char.is_ascii_punctuation();
        let letters = texts.join("\0").to_lowercase().replace(is_dropped, "");
        Self { fields: Some(fields), letters }
    }

    /// What things that are alike have in common; `None` for a copy.
    pub(crate) fn letters(&self) -> Option<&str> {
        self.fields.as_ref().map(|_| &*self.letters)
    }
}

pub(crate) struct Sought {
    pub(crate) content: Content,
    pub(crate) began: Timestamp,
    /// What was created before it is no result, unless it is alike.
    pub(crate) since: Timestamp,
}

pub(crate) struct Item {
    pub(crate) content: Content,
    /// The latest time at which it may have been created, by the clock of this machine.
    pub(crate) created_at: Timestamp,
    pub(crate) value: Value,
}

/// What the steps of a journal that were carried out account for.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    pub(crate) ids: HashSet<i64>,
    /// Copied vaults, whose prompts are copies too.
    pub(crate) copies: HashSet<i64>,
    /// The texts of generations, whose output is in the list of prompts.
    pub(crate) generated: HashSet<String>,
}

impl Claims {
    pub(crate) fn add_text(&mut self, text: &str) {
        self.generated.insert(normalized(text));
    }

    /// Whether this item belongs to a step, or is a vault of the service itself.
    pub(crate) fn include(&self, item: &Value) -> bool {
        let id =
            |value: &Value, ids: &HashSet<i64>| value.as_i64().is_some_and(|id| ids.contains(&id));
        let list = |name| item.get(name).and_then(Value::as_array).into_iter().flatten();
        let text = item.get("prompt").and_then(Value::as_str);
        item.get("id").is_none_or(|it| id(it, &self.ids))
            || item.get("isSystem") == Some(&Value::Bool(true))
            || list("vaultIds").any(|it| id(it, &self.copies))
            || list("images").next().is_some()
                && text.is_some_and(|text| self.generated.contains(&normalized(text)))
    }
}

/// What a list, of which these items belong to no step, proves about the results of open steps.
pub(crate) fn of_steps(steps: &[Sought], mut items: Vec<Item>) -> Vec<Evidence<Value>> {
    items.sort_by_key(|item| item.created_at);
    let mut alike = HashMap::<_, (usize, Timestamp)>::new();
    for Sought { content, began, .. } in steps.iter().filter(|it| it.content != Content::COPY) {
        let (count, first) = alike.entry(content).or_insert((0, *began));
        (*count, *first) = (*count + 1, *began.min(first));
    }
    let (mut found, mut strangers) = (HashMap::<_, Vec<_>>::new(), Vec::new());
    for item in items {
        match alike.get_key_value(&item.content) {
            Some((content, (_, first))) if item.created_at >= *first => {
                found.entry(*content).or_default().push(item.value);
            }
            _ => strangers.push(item),
        }
    }
    let of_step = |Sought { content, since, .. }: &Sought| {
        let copies = alike.get(content).map_or(0, |(count, _)| *count);
        if let Some(results) = found.get_mut(content)
            && !results.is_empty()
        {
            if results.len() > copies {
                let reason = "the service has more like it than steps of the journal";
                return Evidence::Unclear(reason.to_owned());
            }
            return Evidence::Present(results.remove(0));
        }
        let is_like = |item: &&Item| {
            item.created_at >= *since
                || content.letters().is_some() && item.content.letters() == content.letters()
        };
        match strangers.iter().find(is_like) {
            None => Evidence::Absent,
            Some(item) => Evidence::Unclear(format!(
                "it may be the one with the id {}, which belongs to no step of the journal",
                item.value.get("id").unwrap_or(&Value::Null)
            )),
        }
    };
    steps.iter().map(of_step).collect()
}
