//! Steps as they are the same in every run: `$vault1` in place of an id, `…` in place of what marks
//! a run.

use std::sync::LazyLock;

use promptarium_conformance::trace::Step;
use regex::{Captures, Regex};

/// Ids of vaults begin above this many, those of prompts and memberships above theirs.
pub(super) const VAULTS: usize = 1_000;
pub(super) const PROMPTS: usize = 4_000;
pub(super) const MEMBERS: usize = 20_000;
/// A longer word is a cursor, a token or a text at its limit.
const WORD: usize = 24;
/// Characters of a body.
const BODY: usize = 200;

/// Names for ids, each by the range of its kind.
#[derive(Default)]
struct Names(Vec<(String, String)>);

impl Names {
    /// Names the ids in a text that are no smaller than this.
    fn add(&mut self, text: &str, least: usize) {
        for word in text.split(|one: char| !one.is_ascii_alphanumeric()) {
            let kind = match word.parse::<usize>() {
                Ok(id) if !(least..100_000).contains(&id) || self.of(word).is_some() => continue,
                Ok(..PROMPTS) => "$vault",
                Ok(PROMPTS..MEMBERS) => "$prompt",
                Ok(MEMBERS..) => "$member",
                Err(_) => continue,
            };
            let number = self.0.iter().filter(|(_, name)| name.starts_with(kind)).count() + 1;
            self.0.push((word.to_owned(), format!("{kind}{number}")));
        }
    }

    fn of(&self, word: &str) -> Option<&str> {
        self.0.iter().find(|(id, _)| id == word).map(|(_, name)| name.as_str())
    }
}

pub(super) fn steps(steps: &[Step]) -> Vec<Step> {
    let mut ids = Names::default();
    let mut shown: Vec<Step> = Vec::new();
    for step in steps {
        ids.add(step.call.split('?').next().unwrap(), VAULTS);
        if let Some(body) = step.body.as_ref().filter(|body| body.starts_with('{')) {
            ids.add(body, VAULTS);
        }
    }
    // A membership may be named by a check only.
    for check in steps.iter().flat_map(|step| &step.checks) {
        ids.add(check, MEMBERS);
    }
    for step in steps {
        let text = |text: &String| rewritten(text, &ids);
        let texts = |texts: &[String]| texts.iter().map(text).collect::<Vec<_>>();
        let step = Step {
            call: text(&step.call),
            by: step.by.clone(),
            headers: texts(&step.headers),
            body: step.body.as_ref().map(|body| cut(&text(body))),
            status: step.status,
            set_up: step.set_up,
            checks: if step.set_up { Vec::new() } else { texts(&step.checks) },
            ..Step::default()
        };
        match shown.last_mut() {
            Some(last) if Step { times: 0, ..last.clone() } == step => {
                last.times = last.times.max(1) + 1;
            }
            _ => shown.push(step),
        }
    }
    shown
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(BODY) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The time, the mark of a run with the number of a name in its scenario, and other words.
static PARTS: LazyLock<Regex> = LazyLock::new(|| {
    let letters = r"[\pL\pN_-]";
    let time = "[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}:[0-9:.TZ-]*";
    Regex::new(&format!("{time}|{letters}*ptc-{letters}*(?: ?[0-9]+)?|{letters}+")).unwrap()
});
static HOST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"127\.0\.0\.1:[0-9]*").unwrap());

fn rewritten(text: &str, ids: &Names) -> String {
    let named = PARTS.replace_all(text, |found: &Captures<'_>| {
        let word = &found[0];
        match ids.of(word) {
            _ if word.contains("ptc-") => "…".to_owned(),
            _ if word.contains(':') => "$time".to_owned(),
            Some(name) => name.to_owned(),
            None if word.len() > WORD && word.contains(|one: char| one.is_ascii_digit()) => {
                "$token".to_owned()
            }
            None if word.chars().count() > WORD => word.chars().take(3).chain(['…']).collect(),
            None => word.to_owned(),
        }
    });
    HOST.replace_all(&named, "$$host").into_owned()
}

const NAMES: &str = "prompts vaults save fork pin move generations status uploads images api-keys";

/// `GET /prompts/$prompt1?a=b` as `GET /prompts/{id}`; none for an address that the target gave.
pub(super) fn template(call: &str) -> Option<String> {
    let (method, path) = call.split_once(' ')?;
    let path = path.split('?').next()?.strip_prefix('/')?;
    let part = |part: &str| {
        if NAMES.split(' ').any(|name| name == part) { part.to_owned() } else { "{id}".to_owned() }
    };
    let parts: Vec<_> = path.split('/').map(part).collect();
    Some(format!("{method} /{}", parts.join("/")))
}
