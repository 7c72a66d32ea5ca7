//! Facts that hold for every field of every request: a required one has to be there, values of
//! other types and beyond its range are refused, the first and the last of its range are taken.
//! The scenarios are made from the rows of [`table`].

pub mod request;
pub mod table;
pub mod values;

use std::sync::LazyLock;

use strum::AsRefStr;

use self::request::{Correct, Request};
use self::table::{FIELDS, Field, Kind, Presence};
use super::endpoints::Row;
use super::shared::prelude::*;

pub static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let of_field = |field| facts(field).into_iter().map(move |fact| fact.scenario(field));
    FIELDS.iter().flat_map(of_field).collect()
});

/// `promptType` is `prompt-type`.
pub fn dashed(name: &str) -> String {
    let letter =
        |c: char| if c.is_uppercase() { format!("-{}", c.to_lowercase()) } else { c.into() };
    name.chars().map(letter).collect()
}

/// What holds for a field, with its name in ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, AsRefStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Fact {
    Required,
    WrongType,
    First,
    Last,
    TooSmall,
    TooLarge,
    Words,
    OtherWords,
    NoUri,
    Null,
}

pub fn facts(field: &Field) -> Vec<Fact> {
    use Fact::*;
    let is_body = field.request.has_body();
    let of_kind: &[Fact] = match field.kind {
        Kind::Text(0, _) | Kind::Ratio(..) => &[WrongType, Last, TooLarge],
        Kind::AnyText | Kind::Id => &[WrongType],
        // Every value of a query is a text.
        Kind::OneOf(..) if !is_body => &[Words, OtherWords],
        Kind::OneOf(..) => &[WrongType, Words, OtherWords],
        Kind::Uri => &[WrongType, NoUri],
        Kind::Uris(..) => &[WrongType, Last, TooLarge, NoUri],
        Kind::PositiveId => &[WrongType, TooSmall],
        Kind::Text(..) | Kind::Ids(..) | Kind::Integer(..) => {
            &[WrongType, First, Last, TooSmall, TooLarge]
        }
        Kind::Object => &[WrongType, First],
    };
    let required = (field.presence == Presence::Required).then_some(Required);
    // Whether null is a value is open for some (S-09).
    let null = (is_body && field.presence != Presence::NullableByChoice).then_some(Null);
    required.into_iter().chain(of_kind.iter().copied()).chain(null).collect()
}

impl Fact {
    fn scenario(self, field: &'static Field) -> Scenario {
        let Row { name, method, template, .. } = field.request.endpoint();
        let title = format!("{method} {template}: {}", self.title(field));
        let id = format!("fields.{name}.{}-{}", dashed(field.name), self.as_ref());
        let run = move |case| self.hold(case, field);
        let made = Scenario::generated(id, title, self.rules(field), run);
        Scenario { reads: field.request == Request::ListPrompts, ..made }
    }

    fn title(self, field: &Field) -> String {
        let Field { name, kind, .. } = field;
        let (least, most, unit) = kind.range();
        match self {
            Self::Required => format!("without {name} it is refused with 400"),
            Self::WrongType => format!("a {name} of another JSON type is refused with 400"),
            Self::First => format!("{name} of {least}{unit} is accepted"),
            Self::Last => format!("{name} of {most}{unit} is accepted"),
            Self::TooSmall => format!("{name} of less than {least}{unit} is refused with 400"),
            Self::TooLarge => format!("{name} of more than {most}{unit} is refused with 400"),
            Self::Words => format!("each stated value of {name} is accepted"),
            Self::OtherWords => format!("any other value of {name} is refused with 400"),
            Self::NoUri => format!("{name} with a text that is not a URI is refused with 400"),
            Self::Null if field.presence.takes_null() => format!("{name} may be null"),
            Self::Null => format!("null for {name} is of the wrong type and refused with 400"),
        }
    }

    fn rules(self, field: &Field) -> Vec<&'static str> {
        let (own, other) = match (self, field.request) {
            (Self::WrongType, Request::AddPrompts) => ("VC-13", Some("ER-05")),
            (Self::WrongType, _) => (field.rule, Some("ER-05")),
            (Self::Null, _) => (field.rule, (!field.presence.takes_null()).then_some("ER-05")),
            (Self::Required, _) => (field.rule, Some("ER-04")),
            (Self::Words, _) => (field.rule, Some(field.range)),
            (Self::TooSmall | Self::TooLarge, _) => (field.range, Some("ER-06")),
            (Self::First | Self::Last | Self::OtherWords, _) => (field.range, None),
            (Self::NoUri, Request::Generate) => (field.rule, Some("GE-25")),
            (Self::NoUri, _) => (field.rule, None),
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
            Self::First if field.name == "name" => one_accepted(&call, field).await,
            _ if self.accepts(field) => accepted(&call, field, &values).await,
            Self::Required => {
                call.without(field.name).await?.is_bad_request(format!("no {}", field.name))?;
                call.changed_nothing().await
            }
            _ => all_refused(&call, field, &values).await,
        }
    }

    pub fn accepts(self, field: &Field) -> bool {
        match self {
            Self::Null => field.presence.takes_null(),
            _ => matches!(self, Self::First | Self::Last | Self::Words),
        }
    }

    pub async fn values(self, call: &Correct, field: &Field) -> Result<Vec<String>> {
        let (least, most, _) = field.kind.range();
        let words = |words: &str| words.split(' ').map(|word| json!(word).to_string()).collect();
        Ok(match (self, field.kind) {
            (Self::WrongType, _) => values::of_other_types(call, field),
            (Self::Null, _) => vec!["null".into()],
            (Self::Last, Kind::Ratio(most)) => vec![values::ratio(3), values::ratio(most)],
            (Self::First, _) => values::of_size(call, field, least).await?,
            (Self::Last, _) => values::of_size(call, field, most).await?,
            (Self::TooSmall, Kind::Text(..)) => vec![r#""""#.into()],
            (Self::TooSmall, Kind::Ids(..)) => vec!["[]".into()],
            (Self::TooSmall, _) => values::below(least),
            (Self::TooLarge, Kind::Integer(..)) => values::above(most),
            (Self::TooLarge, _) => {
                let mut values = values::of_size(call, field, most + 1).await?;
                values.extend(values::repeated(call, field, most as usize + 1));
                values
            }
            (Self::Words, Kind::OneOf(stated, _)) => words(stated),
            // An empty value of a query may be none (S-03).
            (Self::OtherWords, Kind::OneOf(_, others)) if !field.request.has_body() => {
                words(others)
            }
            (Self::OtherWords, Kind::OneOf(_, others)) => words(&format!("{others} ")),
            (Self::NoUri, _) => values::entries(field, &["plainword", "two words", ""]),
            _ => Vec::new(),
        })
    }
}

pub fn shown(field: &Field, value: &str) -> String {
    format!("{} {}", field.name, value.chars().take(80).collect::<String>())
}

async fn all_refused(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        sent(call, field, value).await?.is_bad_request(shown(field, value))?;
    }
    call.changed_nothing().await
}

/// The call with this value, beside all that a right one would need: nothing else is at fault.
async fn sent(call: &Correct, field: &Field, value: &str) -> Result<ApiResponse> {
    let beside = beside(call, field, value);
    let beside = beside.iter().map(|(name, value)| (*name, value.as_str()));
    call.with(&[(field.name, value)].into_iter().chain(beside).collect::<Vec<_>>()).await
}

pub async fn accepted(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        accepted_one(call, field, value).await?;
    }
    Ok(())
}

/// A server may refuse a name that is taken (S-17), and a single letter easily is.
async fn one_accepted(call: &Correct, field: &Field) -> Result {
    let mut last = Ok(());
    for letter in 'a'..='z' {
        last = accepted_one(call, field, &json!(letter).to_string()).await;
        if last.is_ok() {
            break;
        }
    }
    last
}

async fn accepted_one(call: &Correct, field: &Field, value: &str) -> Result {
    const SHOWN: &str = "title prompt promptType name description visibility contentType size";
    let reply = sent(call, field, value).await?;
    if field.request == Request::Generate {
        taken_by_model(&call.case, &reply, field.name)?;
    }
    reply.status_is(reply.is_success(), format!("a success for {}", shown(field, value)))?;
    let shows = !matches!(field.request, Request::Generate | Request::ListPrompts);
    if shows && SHOWN.split(' ').any(|name| name == field.name) {
        let value: Value = serde_json::from_str(value).unwrap_or_default();
        reply.equals(&format!("/data/{}", field.name), value)?;
    }
    Ok(())
}

/// A field that a value needs: a type its model, and a new vault a name that is not taken (S-17).
fn beside(call: &Correct, field: &Field, value: &str) -> Option<(&'static str, String)> {
    let (name, needed) = match (field.request, value) {
        (Request::ListPrompts, _) => return None,
        (Request::CreateVault, _) if field.name != "name" => ("name", call.case.name("vault")),
        (_, r#""video""#) => ("modelId", call.case.video_model().to_owned()),
        (_, r#""image""#) => ("modelId", call.case.image_model().to_owned()),
        _ if field.name == "promptType" => ("modelId", call.case.image_model().to_owned()),
        _ => return None,
    };
    Some((name, json!(needed).to_string()))
}
