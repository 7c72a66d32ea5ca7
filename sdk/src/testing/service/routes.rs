//! How the service answers requests.

use serde_json::Value;

use super::state::{Kind, State, prompt_ids};
use crate::testing::{Answer, SeenRequest};
use crate::{Cursor, Page, limits, path};

const TEMPLATES: [&str; 12] = [
    path::PROMPTS,
    path::PROMPT,
    path::PROMPT_SAVE,
    path::VAULTS,
    path::VAULT,
    path::VAULT_FORK,
    path::VAULT_PROMPTS,
    path::VAULT_PROMPT,
    path::VAULT_PROMPT_MOVE,
    path::VAULT_PROMPT_PIN,
    path::GENERATIONS,
    path::GENERATION_STATUS,
];

/// A request of a known path, with the ids in it.
struct Call<'a> {
    method: &'a str,
    template: &'static str,
    ids: (i64, i64),
    body: Value,
}

/// The template of a path, and the values of its parameters.
pub(super) fn template(path: &str) -> Option<(&'static str, Vec<&str>)> {
    let is_parameter = |wanted: &str| wanted.starts_with('{');
    TEMPLATES.into_iter().find_map(|template| {
        let (wanted, found) = (template.split('/'), path.split('/'));
        let pairs = wanted.clone().zip(found.clone());
        let is_same = wanted.count() == found.count()
            && pairs.clone().all(|(wanted, found)| wanted == found || is_parameter(wanted));
        let values = pairs.filter(|(wanted, _)| is_parameter(wanted));
        is_same.then(|| (template, values.map(|(_, value)| value).collect()))
    })
}

impl Call<'_> {
    /// The required field that is missing, or the text that is too long.
    fn invalid_field(&self) -> Option<&'static str> {
        const TITLE: usize = *limits::PROMPT_TITLE_CHARS.end();
        const TEXT: usize = *limits::PROMPT_TEXT_CHARS.end();
        const NAME: usize = *limits::VAULT_NAME_CHARS.end();
        const MODEL: usize = *limits::GENERATION_MODEL_ID_CHARS.end();
        let fields: &[(&str, usize)] = match self.template {
            path::PROMPTS | path::PROMPT => &[("title", TITLE), ("prompt", TEXT)],
            path::VAULTS | path::VAULT => &[("name", NAME)],
            path::GENERATIONS => {
                &[("modelId", MODEL), ("prompt", limits::GENERATION_PROMPT_CHARS_MAX)]
            }
            path::PROMPT_SAVE => &[("vaultId", 0)],
            path::VAULT_PROMPTS => &[("promptIds", 0)],
            path::VAULT_PROMPT_MOVE => &[("targetVaultId", 0)],
            _ => &[],
        };
        let is_invalid = |(name, chars): &&(&str, usize)| match &self.body[*name] {
            Value::Null => self.method == "POST",
            Value::String(text) => text.is_empty() || text.chars().count() > *chars,
            _ => false,
        };
        fields.iter().find(is_invalid).map(|(name, _)| *name)
    }
}

impl State {
    pub(super) fn answer(&mut self, request: &SeenRequest) -> Answer {
        let Some((template, values)) = template(&request.path) else {
            return Answer::error(404, format!("there is no such path: {request}"));
        };
        let number = |index| values.get(index).and_then(|id: &&str| id.parse().ok()).unwrap_or(0);
        let (method, body) = (request.method.as_str(), request.json());
        let call = Call { method, template, ids: (number(0), number(1)), body };
        if let Some(field) = call.invalid_field() {
            return Answer::error(400, format!("{field} is missing or too long"));
        }
        if let Some(what) = self.absent(&call) {
            return Answer::error(404, format!("there is no such {what}"));
        }
        match (method, template) {
            ("GET", path::PROMPTS) => self.page(request),
            ("GET", path::GENERATION_STATUS) => self.poll_job(values.first().unwrap_or(&"")),
            ("POST", path::GENERATIONS) => Answer::data(&self.queue_job(call.body)).status(202),
            _ => self.data(&call),
        }
    }

    fn page(&self, request: &SeenRequest) -> Answer {
        let value = |name| request.query_value(name);
        let number = |name| value(name).and_then(|text| text.parse::<i64>().ok());
        let limit =
            value("limit").map_or(Some(limits::PAGE_SIZE_DEFAULT), |text| text.parse().ok());
        let Some(limit) = limit.filter(|limit| limits::PAGE_SIZE.contains(limit)) else {
            return Answer::error(400, "limit is out of its range");
        };
        let (before, vault) = (number("cursor"), number("vaultId").map(Value::from));
        let has_words = |prompt: &Value| {
            let texts = ["title", "prompt", "platform"].map(|name| prompt[name].as_str());
            let text = texts.map(Option::unwrap_or_default).join("\n").to_lowercase();
            let words = value("q").unwrap_or_default().to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        let mut rest = self.all(Kind::Prompt).into_iter().rev().filter(|prompt| {
            let is_in =
                |vault| prompt["vaultIds"].as_array().is_some_and(|ids| ids.contains(vault));
            before.is_none_or(|before| prompt["id"].as_i64() < Some(before))
                && value("type").is_none_or(|kind| prompt["promptType"] == kind)
                && vault.as_ref().is_none_or(is_in)
                && has_words(prompt)
        });
        let page: Vec<_> = rest.by_ref().take(limit as usize).collect();
        let next = rest.next().and(page.last()).map(|last| Cursor::from(last["id"].to_string()));
        Answer::page(&Page::new(page, next))
    }

    fn data(&mut self, call: &Call<'_>) -> Answer {
        let Call { method, template, ids: (id, membership), body } = call;
        let (status, data) = match (*method, *template) {
            ("POST", path::PROMPTS) => (201, self.add(Kind::Prompt, body)),
            ("GET", path::PROMPT) => (200, self.read(Kind::Prompt, *id)),
            ("PATCH", path::PROMPT) | ("POST", path::PROMPT_SAVE) => {
                (200, self.merge(Kind::Prompt, *id, body))
            }
            ("DELETE", path::PROMPT) => (200, self.delete(Kind::Prompt, *id)),
            ("GET", path::VAULTS) => (200, self.all(Kind::Vault).into_iter().rev().collect()),
            ("POST", path::VAULTS) => (201, self.add(Kind::Vault, body)),
            ("GET", path::VAULT) => (200, self.read(Kind::Vault, *id)),
            ("PATCH", path::VAULT) => (200, self.merge(Kind::Vault, *id, body)),
            ("DELETE", path::VAULT) => (200, self.delete(Kind::Vault, *id)),
            ("POST", path::VAULT_FORK) => (201, self.fork(*id)),
            ("GET", path::VAULT_PROMPTS) => (200, self.members(*id).into()),
            ("POST", path::VAULT_PROMPTS) => (201, self.add_members(*id, body)),
            ("DELETE", path::VAULT_PROMPT) => (200, self.remove_member(*membership)),
            ("POST", path::VAULT_PROMPT_MOVE) => {
                (200, self.move_member(*membership, body["targetVaultId"].as_i64().unwrap_or(0)))
            }
            ("POST", path::VAULT_PROMPT_PIN) => (200, self.pin_member(*membership, true)),
            ("DELETE", path::VAULT_PROMPT_PIN) => (200, self.pin_member(*membership, false)),
            _ => return Answer::error(405, format!("{method} is not possible for {template}")),
        };
        Answer::data(&data).status(status)
    }

    /// What the request names and does not exist.
    fn absent(&self, call: &Call<'_>) -> Option<&'static str> {
        let Call { template, ids: (id, membership), body, .. } = call;
        let roots = [(path::PROMPT, Kind::Prompt), (path::VAULT, Kind::Vault)];
        let of_path = roots.into_iter().filter(|(root, _)| template.starts_with(root));
        let of_path = of_path.map(|(_, kind)| (kind, *id));
        let vaults =
            ["vaultId", "targetVaultId"].into_iter().filter_map(|name| body[name].as_i64());
        let of_body = prompt_ids(body).map(|id| (Kind::Prompt, id));
        let of_body = of_body.chain(vaults.map(|id| (Kind::Vault, id)));
        for (kind, id) in of_path.chain(of_body) {
            if !self.exists(kind, id) {
                return Some(if kind == Kind::Prompt { "prompt" } else { "vault" });
            }
        }
        if template.starts_with(path::VAULT_PROMPT) && !self.is_member(*id, *membership) {
            return Some("membership");
        }
        let is_private = || self.read(Kind::Vault, *id)["visibility"] == "private";
        (*template == path::VAULT_FORK && is_private()).then_some("public or unlisted vault")
    }
}
