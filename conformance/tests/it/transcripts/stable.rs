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

/// What an id is that of, by its range.
fn kind(id: usize) -> &'static str {
    match id {
        ..PROMPTS => "vault",
        PROMPTS..MEMBERS => "prompt",
        _ => "member",
    }
}

/// The ids of a scenario in the order in which its requests name them.
#[derive(Default)]
struct Ids(Vec<(String, String)>);

impl Ids {
    fn add(&mut self, text: &str) {
        self.add_from(text, VAULTS);
    }

    /// Those that are no smaller than this.
    fn add_from(&mut self, text: &str, least: usize) {
        for word in text.split(|one: char| !one.is_ascii_alphanumeric()) {
            let id = word.parse().ok().filter(|id| (least..100_000).contains(id));
            let Some(kind) = id.map(kind) else { continue };
            if self.0.iter().all(|(known, _)| known != word) {
                let same = |(_, name): &&(String, String)| name.starts_with(&format!("${kind}"));
                let number = self.0.iter().filter(same).count() + 1;
                self.0.push((word.to_owned(), format!("${kind}{number}")));
            }
        }
    }

    fn name(&self, word: &str) -> Option<&str> {
        self.0.iter().find(|(id, _)| id == word).map(|(_, name)| name.as_str())
    }
}

pub(super) fn steps(steps: &[Step]) -> Vec<Step> {
    let mut ids = Ids::default();
    let mut shown: Vec<Step> = Vec::new();
    for step in steps {
        ids.add(step.call.split('?').next().unwrap());
        if let Some(body) = step.body.as_ref().filter(|body| body.starts_with('{')) {
            ids.add(body);
        }
    }
    // A membership may be named by a check only.
    for check in steps.iter().flat_map(|step| &step.checks) {
        ids.add_from(check, MEMBERS);
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

macro_rules! forms {
    ($($name:ident = $form:literal;)+) => {
        // `W` stands for a letter, a digit or a hyphen.
        $(static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(&$form.replace('W', r"[\pL\pN_-]")).unwrap());)+
    };
}

forms! {
    // The time, the mark of a run with the number of a name in its scenario, and other words.
    PARTS = r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}:[0-9:.TZ-]*|W*ptc-W*(?: ?[0-9]+)?|W+";
    HOST = r"127\.0\.0\.1:[0-9]*";
}

fn rewritten(text: &str, ids: &Ids) -> String {
    let named = PARTS.replace_all(text, |found: &Captures<'_>| {
        let word = &found[0];
        let is_long = word.chars().count() > WORD;
        if word.contains("ptc-") {
            "…".to_owned()
        } else if word.contains(':') {
            "$time".to_owned()
        } else if let Some(name) = ids.name(word) {
            name.to_owned()
        } else if word.len() > WORD && word.contains(|one: char| one.is_ascii_digit()) {
            "$token".to_owned()
        } else if is_long {
            word.chars().take(3).chain(['…']).collect()
        } else {
            word.to_owned()
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
