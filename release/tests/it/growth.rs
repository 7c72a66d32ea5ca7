//! What may be added in a minor release without breaking anyone.

use rustdoc_types::{Attribute, Crate, Item, ItemEnum, StructKind, Visibility};

use crate::rustdoc::{Build, json};

/// Closed on purpose.
const CLOSED: [&str; 1] = [
    // Left, set or cleared: a patch has no fourth way, and users match on the three.
    "Change",
];

/// Whether users could name all there is in it, and so would notice one thing more.
fn shows_all(item: &Item, all: &Crate) -> bool {
    let public = |id| matches!(&all.index[id].visibility, Visibility::Public);
    match &item.inner {
        ItemEnum::Enum(_) => true,
        ItemEnum::Struct(it) => match &it.kind {
            StructKind::Unit => true,
            StructKind::Tuple(fields) => fields.iter().all(Option::is_some),
            StructKind::Plain { fields, has_stripped_fields } => {
                !has_stripped_fields && fields.iter().all(public)
            }
        },
        _ => false,
    }
}

#[test]
fn every_struct_and_enum_can_grow() {
    let Some(json) = json(Build::Whole) else { return };
    let all = json.read();
    let ours = all.index.values().filter(|item| item.crate_id == 0 && shows_all(item, &all));
    let (mut open, mut closed) = (0, Vec::new());
    for item in ours {
        if item.attrs.contains(&Attribute::NonExhaustive) {
            open += 1;
        } else {
            closed.push(item.name.as_deref().unwrap());
        }
    }
    closed.sort_unstable();
    assert_eq!(closed, CLOSED);
    assert!(open > 20, "only {open} types were looked at");
}
