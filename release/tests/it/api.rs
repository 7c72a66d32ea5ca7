//! The public API of the SDK, item by item, and the crates of others in it.
//!
//! After a change that is meant, write the snapshot again and look at what it says:
//!
//! ```text
//! INSTA_UPDATE=always cargo test -p promptarium-release
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;

use insta::{assert_snapshot, with_settings};
use public_api::{Builder, PublicItem};
use rustdoc_types::{Crate, Impl, ItemEnum};

use crate::rustdoc::{Build, Json, json};

/// Traits that say nothing a user could notice, or that follow from the others.
const NOT_TOLD: [&str; 6] = [
    "core::marker::Freeze",
    "core::marker::StructuralPartialEq",
    "core::marker::Unpin",
    "core::marker::UnsafeUnpin",
    "core::panic::unwind_safe::RefUnwindSafe",
    "core::panic::unwind_safe::UnwindSafe",
];

fn listing(json: &Json, name: &str) -> String {
    let all = json.read();
    let file = json.file(name);
    let api = Builder::from_rustdoc_json(file).omit_blanket_impls(true).build().unwrap();
    let mut listing = String::new();
    for item in api.items().filter(|item| !is_method_of_trait(item, &all)) {
        let text = item.to_string();
        if !NOT_TOLD.iter().any(|name| text.contains(&format!("{name} for "))) {
            writeln!(listing, "{text}").unwrap();
        }
    }
    assert!(listing.lines().count() > 100, "{listing}");
    listing
}

/// What it is follows from the line that says that the trait is implemented.
fn is_method_of_trait(item: &PublicItem, all: &Crate) -> bool {
    let inner = |id| all.index.get(id).map(|item| &item.inner);
    let parent = item.parent_id();
    let in_trait = parent
        .as_ref()
        .and_then(inner)
        .is_some_and(|parent| matches!(parent, ItemEnum::Impl(Impl { trait_: Some(_), .. })));
    in_trait && matches!(inner(&item.id()), Some(ItemEnum::Function(_)))
}

#[test]
fn the_public_api_is_the_one_in_the_snapshot() {
    let Some(json) = json(Build::Whole) else { return };
    let listing = listing(&json, "snapshot.json");
    with_settings!({
        snapshot_path => "../../api",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        assert_snapshot!("promptarium", listing);
    });
}

/// Each of these is bound to our version: a major release of it is one of ours.
#[test]
fn no_crates_of_others_show_in_the_public_api_but_these() {
    let Some(whole) = json(Build::Whole) else { return };
    let Some(models) = json(Build::ModelsOnly) else { return };
    let of_models = ["jiff", "serde_core", "serde_json", "url"];
    let of_client = ["bytes", "futures_core", "http", "http_body", "reqwest", "tokio"];
    assert_eq!(others(&models, "models.json"), of_models);
    let mut all = [&of_models[..], &of_client].concat();
    all.sort_unstable();
    assert_eq!(others(&whole, "whole.json"), all);
}

/// The crates, but for the standard library, whose names begin a path.
fn others(json: &Json, name: &str) -> Vec<String> {
    let known = json.read().external_crates;
    let known: BTreeSet<_> = known.values().map(|other| other.name.as_str()).collect();
    let listing = listing(json, name);
    let words = listing.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
    let first = words.filter_map(|word| Some(word.split_once("::")?.0));
    let first: BTreeSet<_> = first.filter(|name| known.contains(name)).collect();
    let own = ["alloc", "core", "std"];
    first.into_iter().filter(|name| !own.contains(name)).map(str::to_owned).collect()
}
