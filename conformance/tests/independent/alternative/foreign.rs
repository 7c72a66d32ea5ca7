//! What other programs have put into an account before the suite comes: prompts
//! of all types, vaults of all visibilities, pins, and jobs that have ended.

use super::prelude::*;

const KINDS: [&str; 3] = ["image", "text", "video"];
const VISIBILITIES: [&str; 3] = ["public", "unlisted", "private"];

/// One more prompt, now and then a new vault for it and others, and a job.
pub(super) fn add(store: &mut Store, owner: Account, number: usize) {
    let (title, text) = (format!("Älteres {number}"), "漢 é \u{1f600} \"\\\n".repeat(number + 1));
    let mut prompt = store.new_prompt(owner, title, text);
    prompt.kind = KINDS[number % KINDS.len()];
    prompt.model = Some("retired/model".to_owned());
    // In the future, as if a clock had once gone wrong.
    prompt.created += 86_400_000 * i64::try_from(number).unwrap_or_default();
    let prompt_id = prompt.id;
    store.prompts.push(prompt);
    if number.is_multiple_of(9) {
        let mut vault = store.new_vault(owner, &format!("Mappe {number}"));
        vault.visibility = VISIBILITIES[number / 9 % VISIBILITIES.len()];
        (vault.is_locked, vault.is_system) = (number.is_multiple_of(2), number.is_multiple_of(4));
        vault.created -= 60_000;
        store.vaults.insert(0, vault);
    }
    let vaults = store.vaults.iter().filter(|vault| vault.owner == owner);
    for vault in vaults.map(|vault| vault.id).take(2).collect::<Vec<_>>() {
        let (id, added) = (store.new_id(), store.stamp());
        let pinned = (number.is_multiple_of(3)).then_some(added);
        store.memberships.push(Membership { id, vault, prompt: prompt_id, added, pinned });
    }
    let request = format!("{number}");
    let state = if number.is_multiple_of(2) { State::Completed } else { State::Failed };
    let job = Job::new(&format!("nightly {number}/ü"), owner, "retired/model");
    store.jobs.push(Job { request, begun: 0, state, ..job });
}
