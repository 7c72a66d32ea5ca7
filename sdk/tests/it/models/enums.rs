//! Open enums: known values, and unknown ones that are kept. A test checks that the list of enums
//! is complete.

use insta::assert_snapshot;
use promptarium::{
    GenerationState, GenerationType, ImageContentType, PromptStatus, PromptType, Visibility,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::source::of_models;

struct Open {
    name: &'static str,
    known: &'static [&'static str],
    /// Every value of `KNOWN`, encoded.
    written: fn() -> Vec<String>,
    /// Decodes a JSON text as the enum and encodes it again.
    reread: fn(&str) -> Result<String, serde_json::Error>,
    /// Whether the enum has a known value for the text.
    names: fn(&str) -> bool,
}

macro_rules! open {
    ($($name:ident: $($text:literal)+;)+) => {
        [$(Open {
            name: stringify!($name),
            known: &[$($text),+],
            written: || $name::KNOWN.iter().map(|value| write(value)).collect(),
            reread: reread::<$name>,
            names: |text| {
                let read = $name::from(text);
                assert_eq!((read.as_str(), read.to_string().as_str()), (text, text));
                !matches!(read, $name::Unknown(_)) && $name::KNOWN.contains(&read)
            },
        }),+]
    };
}

const OPEN: &[Open] = &open! {
    GenerationState: "queued" "in_progress" "completed" "failed";
    GenerationType: "image" "video";
    ImageContentType: "image/png" "image/jpeg" "image/webp" "image/gif";
    PromptStatus: "active";
    PromptType: "image" "text" "video";
    Visibility: "private" "unlisted" "public";
};

fn write(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn reread<T: Serialize + DeserializeOwned>(wire: &str) -> Result<String, serde_json::Error> {
    serde_json::from_str::<T>(wire).map(|value| write(&value))
}

/// Any text, and often one that is similar to a known value.
fn text() -> impl Strategy<Value = String> {
    let words: Vec<_> = OPEN.iter().flat_map(|open| open.known).copied().collect();
    let changes: [fn(&str) -> String; 5] = [
        str::to_owned,
        str::to_uppercase,
        |word| format!(" {word}"),
        |word| format!("{word}\0"),
        |word| word[1..].to_owned(),
    ];
    prop_oneof![
        vec(any::<char>(), 0..40).prop_map(String::from_iter),
        (select(words), select(changes.to_vec())).prop_map(|(word, change)| change(word)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_enum_decodes_any_text_and_encodes_it_unchanged(text in text()) {
        let wire = write(&text);
        for open in OPEN {
            prop_assert_eq!(&(open.reread)(&wire).unwrap(), &wire, "{}", open.name);
            prop_assert_eq!((open.names)(&text), open.known.contains(&text.as_str()), "{}", open.name);
        }
    }
}

#[test]
fn the_known_values_are_those_of_the_specification() {
    for open in OPEN {
        let words: Vec<_> = open.known.iter().map(write).collect();
        assert_eq!((open.written)(), words, "{}", open.name);
    }
}

#[test]
fn only_a_string_is_a_value() {
    for (open, wire) in OPEN.iter().flat_map(|open| ["1", "null", "[]"].map(|wire| (open, wire))) {
        assert!((open.reread)(wire).is_err(), "{} read {wire}", open.name);
    }
}

/// A new enum that is not in the list above fails here.
#[test]
fn every_enum_of_the_models_is_in_the_list() {
    let mut open: Vec<_> = OPEN.iter().map(|open| open.name.to_owned()).collect();
    let mut found = Vec::new();
    let mut closed = Vec::new();
    for text in of_models() {
        let declared = text.split("open_enum! {").skip(1).map(|rest| {
            let name = |line: &str| Some(line.trim().strip_suffix(" {")?.to_owned());
            rest.lines().find_map(name).expect("a macro call names its enum")
        });
        found.extend(declared);
        closed.extend(text.lines().filter_map(|line| {
            Some(line.trim().strip_prefix("pub enum ")?.trim_end_matches(" {").to_owned())
        }));
    }
    open.sort();
    found.sort();
    assert_eq!(found, open);
    // `$name` is the macro.
    closed.sort();
    assert_eq!(closed, ["$name"]);
}

#[test]
fn an_unknown_value_is_formatted_as_a_known_one() {
    assert_snapshot!(format!("{:?}", PromptType::from("audio")), @r#"Unknown("audio")"#);
    assert_snapshot!(format!("[{:>7}]", PromptType::Image), @"[  image]");
    assert_snapshot!(format!("[{:>7}]", PromptType::from("audio")), @"[  audio]");
}

#[test]
fn a_value_is_compared_with_text() {
    for text in ["image", "audio"] {
        let value = PromptType::from(text);
        assert!(value == text && value == *text && value != "IMAGE");
    }
}
