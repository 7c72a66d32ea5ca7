//! Named bugs of workers that insert what handlers usually insert, of pages, and of joins in objects.

use super::prelude::*;

/// Where the output of a job goes.
pub(super) fn place(store: &Store, owner: Account, vault: i64) -> i64 {
    let name = store.vaults.iter().find(|one| one.id == vault).map(|one| &one.name);
    let same = store.vaults.iter().rev().find(|one| one.owner == owner && Some(&one.name) == name);
    same.filter(|_| store.bug("job.vault-by-name")).map_or(vault, |one| one.id)
}

/// Before the outputs of a job are put into a vault: how many there are now.
pub(super) fn outputs(store: &mut Store, place: usize, vault: i64) -> i64 {
    let job = &store.jobs[place];
    let outputs = job.outputs;
    match store.choices.bug {
        "job.replaces-output" => {
            let old = store.prompts.iter().filter(|one| !one.images.is_empty());
            let old: Vec<_> = old.map(|one| one.id).collect();
            store.leave(|held| held.vault == vault && old.contains(&held.prompt));
            outputs
        }
        "job.batch-completes-early" if outputs > 1 => {
            let (id, begun, outputs) = (format!("rest-{place}"), now() + 200, outputs - 1);
            store.jobs.push(Job { id, begun, outputs, ..job.clone() });
            1
        }
        "job.output-lost" => 0,
        "job.one-output" => 1,
        "job.output-twice" => outputs * 2,
        "job.one-more-output" if outputs > 1 => outputs + 1,
        _ => outputs,
    }
}

/// After an output was put into a vault.
pub(super) fn saved(store: &mut Store, vault: i64, id: i64) {
    let Some(prompt) = store.prompts.iter_mut().find(|one| one.id == id) else { return };
    let count = store.memory.counts.entry(vault).or_default();
    match store.choices.bug {
        "count.job" => *count -= 1,
        "job.count-per-image" => *count += prompt.images.len() as i64 - 1,
        "job.images-later" => {
            store.memory.later.push((now() + 200, id, std::mem::take(&mut prompt.images)))
        }
        "job.output-last" => {
            let held = store.memberships.iter_mut().filter(|held| held.prompt == id);
            held.for_each(|held| held.added = Stamp { at: 0, count: 0 });
        }
        _ => {}
    }
}

pub(super) fn go_on(store: &mut Store) {
    for (_, id, images) in store.memory.later.extract_if(.., |one| one.0 <= now()) {
        let prompts = store.prompts.iter_mut().filter(|one| one.id == id);
        prompts.for_each(|one| one.images.clone_from(&images));
    }
}
