//! Facts that hold for every field of every request: a required one has to be there, values of
//! other types and beyond its range are refused, the first and the last of its range are taken.
//! The scenarios are made from the rows of [`table`].

mod checks;
pub(super) mod request;
pub(super) mod table;
mod values;

use std::sync::LazyLock;

use self::checks::{
    accepted, all_named, all_refused, entry_named, float_accepted, named, one_accepted,
};
use self::request::{Correct, Request};
use self::table::{FIELDS, Field, Kind, Presence};
use super::endpoints::Row;
use super::prelude::*;

pub(super) static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let of_fields = FIELDS.iter().flat_map(|field| {
        facts(field).into_iter().map(move |fact| {
            let run = move |case| fact.hold(case, field);
            let Row { name, method, template, .. } = field.request.endpoint();
            let title = format!("{method} {template}: {}", fact.title(field));
            let id = format!("fields.{name}.{}-{}", dashed(field.name), fact.row().0);
            let ((profile, silent), rules) = (fact.profile(field), fact.rules(field));
            let made = Scenario::generated(profile, id, title, rules, silent, run);
            Scenario { reads: field.request == Request::ListPrompts, ..made }
        })
    });
    of_fields.chain(checks::of_requests()).collect()
});

/// `promptType` is `prompt-type`.
pub(super) fn dashed(name: &str) -> String {
    let letter =
        |c: char| if c.is_uppercase() { format!("-{}", c.to_lowercase()) } else { c.into() };
    name.chars().map(letter).collect()
}

macro_rules! facts {
    ($($fact:ident $id:literal $profile:ident [$($silent:literal)?] $title:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Fact { $($fact),+ }

        impl Fact {
            /// Id, profile, silent points, and the title with names for what differs.
            fn row(self) -> (&'static str, Profile, &'static [&'static str], &'static str) {
                match self { $(Self::$fact => ($id, Profile::$profile, &[$($silent)?], $title)),+ }
            }
        }
    };
}

facts! {
    Required "required" Core [] "without {name} it is refused with 400";
    WrongType "wrong-type" Core [] "a {name} of another JSON type is refused with 400";
    Min "first" Core [] "{name} of {least} is accepted";
    Max "last" Core [] "{name} of {most} is accepted";
    BelowMin "too-small" Core [] "{name} of less than {least} is refused with 400";
    AboveMax "too-large" Core [] "{name} of more than {most} is refused with 400";
    Enum "words" Core [] "each stated value of {name} is accepted";
    NotInEnum "other-words" Core [] "any other value of {name} is refused with 400";
    NotUri "no-uri" Core [] "{name} with a text that is not a URI is refused with 400";
    Null "null" Core [] "null for {name} is of the wrong type and refused with 400";
    NamesField "named" Reference ["S-60"] "every refusal of a {name} names it in details";
    Nul "nul" Reference ["S-66"] "U+0000 is refused with 400 naming {name}";
    NumberForm "spelling" Reference ["S-65"]
        "an integer in {name} is a number of at most 64 bits, as a float too if it is exact";
    ScalarValues "scalar-values" Reference ["S-66"]
        "the bounds of {name} count Unicode scalar values";
    NotAbsolute "relative" Reference ["S-11"]
        "relative addresses, white space and control characters are refused, naming {name}";
    NamesEntry "entry-named" Reference ["S-11"]
        "the message for {name} names the entry at fault, counted from 1";
}

fn facts(field: &Field) -> Vec<Fact> {
    use Fact::*;
    let is_body = field.request.has_body();
    let of_kind: &[Fact] = match field.kind {
        Kind::Text(0, _) => &[WrongType, Max, AboveMax, Nul, ScalarValues],
        Kind::Text(..) => &[WrongType, Min, Max, BelowMin, AboveMax, Nul, ScalarValues],
        Kind::AnyText => &[WrongType, Nul],
        Kind::Ratio(..) => &[WrongType, Max, AboveMax, Nul, ScalarValues],
        // Every value of a query is a text.
        Kind::OneOf(..) if !is_body => &[Enum, NotInEnum],
        Kind::OneOf(..) => &[WrongType, Enum, NotInEnum],
        Kind::Uri => &[WrongType, NotUri, Nul, NotAbsolute],
        Kind::Uris(..) => &[WrongType, Max, AboveMax, NotUri, Nul, NotAbsolute, NamesEntry],
        Kind::Id if !is_body => &[WrongType],
        Kind::Id => &[WrongType, NumberForm],
        Kind::PositiveId => &[WrongType, BelowMin, NumberForm],
        Kind::Ids(..) => &[WrongType, Min, Max, BelowMin, AboveMax, NumberForm],
        Kind::Integer(..) if !is_body => &[WrongType, Min, Max, BelowMin, AboveMax],
        Kind::Integer(..) => &[WrongType, Min, Max, BelowMin, AboveMax, NumberForm],
        Kind::Object => &[WrongType, Min, Nul],
    };
    let required = (field.presence == Presence::Required).then_some(Required);
    let null = is_body.then_some(Null);
    required.into_iter().chain(of_kind.iter().copied()).chain(null).chain([NamesField]).collect()
}

impl Fact {
    fn profile(self, field: &Field) -> (Profile, &'static [&'static str]) {
        let (_, profile, silent, _) = self.row();
        match (self, field.presence) {
            (Self::Null, Presence::NullableByChoice) => (Profile::Reference, &["S-09"]),
            _ => (profile, silent),
        }
    }

    fn title(self, field: &Field) -> String {
        let (least, most, unit) = field.kind.range();
        let title = match self {
            Self::Null if field.presence.takes_null() => "{name} may be null",
            _ => self.row().3,
        };
        let title = title.replace("{name}", field.name);
        title
            .replace("{least}", &format!("{least}{unit}"))
            .replace("{most}", &format!("{most}{unit}"))
    }

    fn rules(self, field: &Field) -> Vec<&'static str> {
        let (own, other) = match (self, field.request) {
            (Self::WrongType | Self::NumberForm, Request::AddPrompts) => ("VC-13", Some("ER-05")),
            (Self::WrongType | Self::NumberForm, _) => (field.rule, Some("ER-05")),
            (Self::Null, _) => (field.rule, (!field.presence.takes_null()).then_some("ER-05")),
            (Self::Required, _) => (field.rule, Some("ER-04")),
            (Self::Enum, _) => (field.rule, Some(field.range)),
            (Self::BelowMin | Self::AboveMax, _) => (field.range, Some("ER-06")),
            (Self::Min | Self::Max | Self::ScalarValues | Self::NotInEnum, _) => {
                (field.range, None)
            }
            (Self::NotUri | Self::NotAbsolute, Request::Generate) => (field.rule, Some("GE-25")),
            (Self::NotUri | Self::NotAbsolute, _) => (field.rule, None),
            (Self::NamesField | Self::Nul | Self::NamesEntry, _) => (field.rule, Some("ER-03")),
        };
        let of_words = self == Self::WrongType && matches!(field.kind, Kind::OneOf(..));
        let range = of_words.then_some(field.range);
        let mut rules: Vec<_> = [Some(own), range, other].into_iter().flatten().collect();
        rules.dedup();
        rules
    }

    async fn hold(self, case: Case, field: &'static Field) -> Result {
        let call = field.request.correct(&case).await?;
        let values = self.values(&call, field).await?;
        match self {
            Self::Min if field.name == "name" => one_accepted(&call, field).await,
            _ if self.accepts(field) => accepted(&call, field, &values).await,
            Self::Required => {
                call.without(field.name).await?.is_bad_request(format!("no {}", field.name))?;
                call.changed_nothing().await
            }
            Self::ScalarValues => {
                accepted(&call, field, &values).await?;
                let (_, most, _) = field.kind.range();
                let longer = values::odd_texts(&call, field, most as usize + 1);
                all_named(&call, field, &longer).await
            }
            Self::NamesEntry => entry_named(&call, field).await,
            Self::NamesField => named(&call, field).await,
            Self::NumberForm => {
                all_named(&call, field, &values).await?;
                float_accepted(&call, field).await
            }
            Self::Nul | Self::NotAbsolute => all_named(&call, field, &values).await,
            _ => all_refused(&call, field, &values).await,
        }
    }

    /// Whether its values are right ones.
    fn accepts(self, field: &Field) -> bool {
        match self {
            Self::Null => field.presence.takes_null(),
            _ => matches!(self, Self::Min | Self::Max | Self::Enum),
        }
    }

    /// The values that are tried, as JSON is written.
    async fn values(self, call: &Correct, field: &Field) -> Result<Vec<String>> {
        let entries = |good: &str, bad: &[&str]| -> Vec<String> {
            let of = |bad: &&str| match field.kind {
                Kind::Uris(..) => json!([good, bad]).to_string(),
                _ => json!(bad).to_string(),
            };
            bad.iter().map(of).collect()
        };
        let (least, most, _) = field.kind.range();
        let words = |words: &str| words.split(' ').map(|word| json!(word).to_string()).collect();
        Ok(match (self, field.kind) {
            (Self::WrongType, _) => values::of_other_types(call, field),
            (Self::Null, _) => vec!["null".into()],
            (Self::Max, Kind::Ratio(most)) => vec![values::ratio(3), values::ratio(most)],
            (Self::Min, _) => values::of_size(call, field, least).await?,
            (Self::Max, _) => values::of_size(call, field, most).await?,
            (Self::BelowMin, Kind::Text(..)) => vec![r#""""#.into()],
            (Self::BelowMin, Kind::Ids(..)) => vec!["[]".into()],
            (Self::BelowMin, _) => values::below(least),
            (Self::AboveMax, Kind::Integer(..)) => values::above(most),
            (Self::AboveMax, _) => values::of_size(call, field, most + 1).await?,
            (Self::Enum, Kind::OneOf(stated, _)) => words(stated),
            // An empty value of a query may be none (S-03).
            (Self::NotInEnum, Kind::OneOf(_, others)) if !field.request.has_body() => words(others),
            (Self::NotInEnum, Kind::OneOf(_, others)) => words(&format!("{others} ")),
            (Self::NotUri, _) => entries(values::URI, &["plainword", "two words", ""]),
            (Self::NotAbsolute, _) => entries(values::URI, &values::RELATIVE),
            (Self::Nul, Kind::Object) => {
                let nul =
                    [json!({ "a": "\0" }), json!({ "\0": 1 }), json!({ "a": [{ "b": "x\0" }] })];
                nul.map(|value| value.to_string()).to_vec()
            }
            (Self::Nul, _) => entries(values::URI, &["\0", "a\0b"]),
            (Self::NumberForm, Kind::Ids(..)) => {
                let id = call.value(field.name).trim_matches(['[', ']']);
                values::spellings(id).iter().map(|value| format!("[{value}]")).collect()
            }
            (Self::NumberForm, _) => match call.value(field.name) {
                "" => values::spellings("1"),
                own => values::spellings(own),
            },
            (Self::ScalarValues, _) => values::odd_texts(call, field, most as usize),
            _ => Vec::new(),
        })
    }
}
