//! Steps as they are the same in every run: `$vault1` in place of an id, `…` in place of what marks
//! a run.

use promptarium_conformance::trace::Step;

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

/// Word by word, where a word is of letters, digits and hyphens.
fn rewritten(text: &str, ids: &Ids) -> String {
    let is_part = |one: char| one.is_alphanumeric() || one == '-' || one == '_';
    let mut shown = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if is_time(rest) {
            shown.push_str("$time");
            rest =
                rest.trim_start_matches(|one: char| one.is_ascii_digit() || "-:.TZ".contains(one));
            continue;
        }
        let end = rest.find(|one| !is_part(one)).unwrap_or(rest.len());
        if end == 0 {
            shown.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let word;
        (word, rest) = rest.split_at(end);
        if word.contains("ptc-") {
            shown.push('…');
            // The number of the name in its scenario.
            let digits = rest.strip_prefix(' ').unwrap_or(rest);
            let after = digits.trim_start_matches(|one: char| one.is_ascii_digit());
            if after.len() < digits.len() {
                rest = after;
            }
        } else if let Some(name) = ids.name(word) {
            shown.push_str(name);
        } else if word.len() > WORD && word.contains(|one: char| one.is_ascii_digit()) {
            shown.push_str("$token");
        } else if word.chars().count() > WORD {
            shown.extend(word.chars().take(3));
            shown.push('…');
        } else {
            shown.push_str(word);
        }
    }
    let port = shown.find("127.0.0.1:").map(|at| at + "127.0.0.1:".len());
    match port {
        Some(at) => {
            let digits = shown[at..].chars().take_while(char::is_ascii_digit).count();
            shown.replace(&shown[at - "127.0.0.1:".len()..at + digits], "$host")
        }
        None => shown,
    }
}

fn is_time(text: &str) -> bool {
    let form = "dddd-dd-ddTdd:";
    let fits = |(one, form): (char, char)| match form {
        'd' => one.is_ascii_digit(),
        other => one == other,
    };
    text.chars().count() >= form.len() && text.chars().zip(form.chars()).all(fits)
}

/// A check up to its first value; a status is none.
pub(super) fn kind_of_check(check: &str) -> &str {
    let start = check.strip_prefix("status ").map_or(0, |_| "status 000".len());
    let end = check[start..].find(|one: char| one.is_ascii_digit() || "\"[{($…".contains(one));
    &check[..end.map_or(check.len(), |end| start + end)]
}

/// Without what differs from run to run: large numbers, ids, tokens, and the page of a list.
pub(super) fn masked(text: &str) -> String {
    let is_part = |one: char| one.is_alphanumeric() || "$_-%…".contains(one);
    let mut shown = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|one| !is_part(one)).unwrap_or(rest.len()).max(first.len_utf8());
        let word;
        (word, rest) = rest.split_at(end);
        let differs = word.starts_with('$')
            || word.ends_with('…')
            || (word.len() > 3 && word.contains(|one: char| one.is_ascii_digit()));
        match word {
            // A list of ids is as one.
            _ if differs && shown.ends_with("#, ") => shown.truncate(shown.len() - 2),
            _ if differs => shown.push('#'),
            _ => shown.push_str(word),
        }
    }
    let page = shown.find("&cursor=").or(shown.find("cursor="));
    match page {
        Some(at) if shown.starts_with("GET ") => {
            let end = shown[at + 1..].find(['&', ' ']).map_or(shown.len(), |end| at + 1 + end);
            shown[..at].to_owned() + &shown[end..]
        }
        _ => shown,
    }
}
