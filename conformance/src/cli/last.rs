//! What failed in the last run against a target, kept in the cache of the user for `--last-failed`.

use std::path::PathBuf;

use crate::Selection;
use crate::report::Report;

/// The file for a target, a line for each scenario; `None` where there is no home.
fn file(base_url: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = folder("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| folder("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let name = format!("{:08x}.txt", crc32fast::hash(base_url.as_bytes()));
    Some(cache.join("promptarium-conformance").join(name))
}

fn kept(base_url: &str) -> Vec<String> {
    let text = file(base_url).and_then(|file| std::fs::read_to_string(file).ok());
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The scenarios of a selection that failed or were blocked. The error is one line.
pub(super) fn failed(base_url: &str, mut selection: Selection) -> Result<Selection, String> {
    let kept = kept(base_url);
    selection.scenarios.retain(|scenario| kept.iter().any(|id| id == scenario.id));
    if selection.scenarios.is_empty() {
        return Err(format!("--last-failed: nothing failed in the last run against {base_url}"));
    }
    Ok(selection)
}

/// Keeps what is bad now; with `tell` a text of what has changed. What was not selected stays as it
/// was. Nothing depends on the file, so that it cannot be written is no error.
pub(super) fn keep(report: &Report, tell: bool) -> Option<String> {
    let bad = report.records.iter().filter(|record| record.outcome.is_bad());
    let mut now: Vec<String> = bad.map(|record| record.id.to_owned()).collect();
    let (ran, others): (Vec<_>, Vec<_>) =
        kept(&report.target).into_iter().partition(|id| report.outcome(id).is_some());
    let (broken, mended): (Vec<_>, Vec<_>) = ran.into_iter().partition(|id| now.contains(id));
    let (count, broken) = (mended.len(), broken.len());
    let mut text = format!("since the last run: {count} mended, {broken} as before\n");
    text.extend(mended.iter().map(|id| format!("  mended {id}\n")));
    now.extend(others);
    if let Some(file) = file(&report.target) {
        let folder = file.parent().map(std::fs::create_dir_all);
        if folder.is_some_and(|made| made.is_ok()) {
            let _ = std::fs::write(file, now.join("\n"));
        }
    }
    tell.then_some(text)
}
