//! Compares what the service has after a run with what it should have.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::collections::{BTreeMap, BTreeSet};

use super::report::{Problem, ProblemKind};
use crate::testing::FakeService;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Job,
    Vault,
    Prompt,
    /// A prompt with the output of a job.
    Output,
    Upload,
}

/// All things by their names: for each one text, with whatever else is compared.
#[derive(Default)]
pub(super) struct Contents(BTreeMap<(Kind, String), Vec<String>>);

impl Contents {
    pub(super) fn of(service: &FakeService) -> Self {
        let outputs = service.complete_jobs();
        let mut contents = Self::default();
        for job in service.generations() {
            let name = format!("generation by {} of {}", job["modelId"], job["prompt"]);
            contents.add(Kind::Job, name, String::new());
        }
        let mut places = BTreeMap::<_, Vec<_>>::new();
        for vault in service.vaults() {
            let details = format!("{}, description {:?}", vault.visibility, vault.description);
            contents.add(Kind::Vault, format!("vault {:?}", vault.name), details);
            for member in service.vault_prompts(vault.id) {
                let pinned = if member.is_pinned { "pinned in" } else { "in" };
                let places = places.entry(member.prompt.id.get()).or_default();
                places.push(format!("{pinned} {:?}", vault.name));
                places.sort();
            }
        }
        for prompt in service.prompts() {
            let is_output = outputs.contains(&prompt.id.get());
            let kind = if is_output { Kind::Output } else { Kind::Prompt };
            let places = places.remove(&prompt.id.get()).unwrap_or_default().join(", ");
            let (kind_of, platform) = (&prompt.prompt_type, &prompt.platform);
            let details =
                format!("{kind_of}, platform {platform:?}, [{places}], {:?}", prompt.text);
            contents.add(kind, format!("prompt {:?}", prompt.title), details);
        }
        for upload in service.uploads() {
            let content_type = upload.content_type.unwrap_or_default();
            let name = format!("upload of {content_type}, {} bytes", upload.bytes.len());
            contents.add(Kind::Upload, name, String::new());
        }
        contents
    }

    fn add(&mut self, kind: Kind, name: String, details: String) {
        let same = self.0.entry((kind, name)).or_default();
        same.push(details);
        same.sort();
    }

    fn get(&self, key: &(Kind, String)) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Differences in what was found; what is missing counts only after a success.
pub(super) fn differences(expected: &Contents, found: &Contents, success: bool) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    let keys: BTreeSet<_> = expected.0.keys().chain(found.0.keys()).collect();
    for key in keys {
        let (expected, found) = (expected.get(key), found.get(key));
        let kind = match (key.0, found.len().cmp(&expected.len())) {
            // The output of a job that is one too many is not another problem.
            (Kind::Output, _) if problems.iter().any(|p| p.kind == ProblemKind::PaidTwice) => {
                continue;
            }
            (Kind::Job, Greater) => ProblemKind::PaidTwice,
            (Kind::Upload, Greater) => ProblemKind::UploadedTwice,
            (_, Greater) => ProblemKind::Doubled,
            (_, Less) if success => ProblemKind::Lost,
            (_, Equal) if success && found != expected => ProblemKind::Different,
            _ => continue,
        };
        let mut pairs = found.iter().zip(expected);
        let (found, expected) = match pairs.find(|(found, expected)| found != expected) {
            Some(pair) if kind == ProblemKind::Different => (shortened(pair.0), shortened(pair.1)),
            _ => (found.len().to_string(), expected.len().to_string()),
        };
        let details = format!("{}: found {found}, expected {expected}", shortened(&key.1));
        problems.push(Problem { case: None, kind, details, by_client: false });
    }
    problems
}

/// The beginning of a text, for one line.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
