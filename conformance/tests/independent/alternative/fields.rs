//! The fields of a body, read one at a time; the first fault is the answer.

use std::collections::HashSet;

use serde_json::Map;

use super::answer::unreadable;
use super::choices::Bodies;
use super::prelude::*;
use super::wire::ApiRequest;

/// Longer addresses are refused by a server that takes those of the web only.
const ADDRESS_BYTES_MAX: usize = 2000;

type Read<T> = Result<Option<T>, Refusal>;

pub(super) struct Fields {
    fields: Map<String, Value>,
    bodies: &'static Bodies,
    namespace: &'static str,
    bug: &'static str,
    request: &'static str,
}

/// The request as bugs in its fields are called.
fn name_of(request: &ApiRequest) -> &'static str {
    let path = request.path.split("/v1/").nth(1).unwrap_or_default();
    match (request.method.as_str(), path.split('/').collect::<Vec<_>>().as_slice()) {
        ("POST", ["prompts"]) => "create-prompt",
        (_, ["prompts", _]) => "update-prompt",
        (_, ["prompts", ..]) => "save-prompt",
        ("POST", ["vaults"]) => "create-vault",
        (_, ["vaults", _]) => "update-vault",
        (_, ["vaults", _, _]) => "add-prompts",
        (_, ["vaults", ..]) => "move-prompt",
        (_, ["generations"]) => "generate",
        _ => "request-slot",
    }
}

impl Fields {
    /// Reads a JSON object that may have to have none but the `known` fields.
    pub(super) fn read(call: &Call, known: &str) -> Result<Self, Refusal> {
        let (choices, request) = (call.choices, &call.request);
        let (bodies, statuses, bug) = (&choices.bodies, &choices.statuses, choices.bug);
        let lenient = bodies.known_fields_only;
        if !lenient && request.content_type != "application/json" {
            return refuse(statuses.no_json, "No JSON");
        }
        let fields = match serde_json::from_slice(&request.body) {
            _ if lenient && request.body.trim_ascii().is_empty() => Map::new(),
            Err(_) if bug == "body.broken-500" => return refuse(500, "Unexpected token in JSON"),
            Err(_) if bug == "body.broken-is-empty" => Map::new(),
            Ok(Value::Object(fields)) => fields,
            _ => return refuse(statuses.unreadable, "No JSON object"),
        };
        if bodies.twins_refused && has_twin_fields(&request.body, fields.len()) {
            return Err(unreadable());
        }
        let namespace = choices.records.namespace;
        match fields.keys().find(|field| !known.split(' ').any(|name| name == *field)) {
            Some(field) if lenient => Err(bad(field, "unknown")),
            _ => Ok(Self { fields, bodies, namespace, bug, request: name_of(request) }),
        }
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    /// A platform; empty for `null`, or refused on a server that minds.
    pub(super) fn platform(&self, max: usize) -> Read<String> {
        match self.fields.get("platform") {
            Some(Value::Null) if !self.bodies.platform_needs_text => Ok(Some(String::new())),
            _ => self.any_text("platform", max),
        }
    }

    pub(super) fn nullable_text(&self, field: &str, max: usize) -> Read<String> {
        match self.fields.get(field) {
            Some(Value::Null) | None => Ok(None),
            Some(Value::String(text)) if text == "0" && self.bug == "empty.zero-null" => Ok(None),
            Some(_) => self.any_text(field, max),
        }
    }

    /// Whether the request has this bug in this field.
    fn slip(&self, field: &str, what: &str) -> bool {
        let rest = self.bug.strip_prefix(self.request).and_then(|rest| rest.strip_prefix('.'));
        rest.and_then(|rest| rest.split_once('.')) == Some((field, what))
    }

    fn value(&self, field: &str) -> Option<&Value> {
        let value = self.fields.get(field)?;
        Some(value).filter(|value| !(value.is_null() && self.slip(field, "null-absent")))
    }

    fn limit(&self, field: &str, max: usize) -> usize {
        match () {
            () if self.slip(field, "one-more") => max + 1,
            () if self.slip(field, "one-less") => max - 1,
            () if self.slip(field, "unlimited") => usize::MAX,
            () => max,
        }
    }

    fn entries(&self, field: &str) -> Read<Vec<Value>> {
        let mut entries = match self.value(field) {
            None => return Ok(None),
            Some(Value::Array(entries)) => entries.clone(),
            Some(one) if self.slip(field, "single-taken") => vec![one.clone()],
            _ => return Err(bad(field, "no array")),
        };
        if self.slip(field, "distinct") {
            let mut seen = HashSet::new();
            entries.retain(|entry| seen.insert(entry.to_string()));
        }
        Ok(Some(entries))
    }

    /// A text of at least one character.
    pub(super) fn text(&self, field: &str, max: usize) -> Read<String> {
        match self.any_text(field, max)?.as_deref() {
            Some("") if !self.slip(field, "empty-taken") => Err(bad(field, "empty")),
            Some("0") if self.bug == "empty.zero-400" => Err(bad(field, "missing")),
            None if self.slip(field, "missing-taken") => Ok(Some("Untitled".to_owned())),
            text => Ok(text.map(str::to_owned)),
        }
    }

    /// A text; on a server that trims, blank ones are refused.
    pub(super) fn any_text(&self, field: &str, max: usize) -> Read<String> {
        let Some(value) = self.value(field) else { return Ok(None) };
        if self.slip(field, "number-taken") && !value.is_string() && !value.is_null() {
            return Ok(Some(value.to_string()));
        }
        let text = value.as_str().ok_or_else(|| bad(field, "no string"))?;
        if self.slip(field, "cut") {
            return Ok(Some(text.chars().take(max).collect()));
        }
        let trimmed = self.bodies.trimmed;
        let text = if trimmed { text.trim() } else { text };
        let length = match () {
            () if self.slip(field, "bytes") => text.len(),
            () if self.slip(field, "utf16") => text.encode_utf16().count(),
            () if trimmed => text.chars().count(),
            () => text.chars().filter(|char| !goes_with_the_last(*char)).count(),
        };
        match text {
            "" if trimmed => Err(bad(field, "blank")),
            _ if length > self.limit(field, max) => Err(bad(field, "too long")),
            text => Ok(Some(self.as_stored(field, text))),
        }
    }

    /// A text as sanitizers, columns and loose types change it.
    #[rustfmt::skip]
    fn as_stored(&self, field: &str, text: &str) -> String {
        let slip = |what| self.slip(field, what);
        match () {
            () if slip("escaped") => text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
            () if slip("quotes-escaped") => text.replace('"', "&quot;").replace('\'', "&#39;"),
            () if slip("tags") => text.split('<').map(|part| part.rsplit('>').next().unwrap_or_default()).collect(),
            () if slip("one-space") => text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "),
            () if slip("one-line") => text.replace('\n', " "),
            () if slip("three-bytes") => text.replace(|c: char| c.len_utf8() > 3, ""),
            () if slip("unescaped") => text.replace("\\n", "\n").replace("\\t", "\t"),
            () if slip("number") => text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string()),
            () if slip("null-word") && ["null", "None", "undefined"].contains(&text) => "-".to_owned(),
            () if slip("small") => text.to_lowercase(),
            () => text.to_owned(),
        }
    }

    /// Two numbers with a colon, on a server that takes nothing else.
    pub(super) fn ratio(&self, field: &str, max: usize) -> Read<String> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_ratio = |text: &String| {
            text.split_once(':').is_some_and(|(one, other)| is_number(one) && is_number(other))
        };
        let text = self.any_text(field, max)?;
        let is_good = !self.bodies.ratios_only || text.as_ref().is_none_or(is_ratio);
        if is_good { Ok(text) } else { Err(bad(field, "no ratio")) }
    }

    pub(super) fn object(&self, field: &str) -> Result<(), Refusal> {
        match self.value(field) {
            None | Some(Value::Object(_)) => Ok(()),
            Some(_) if self.slip(field, "any-taken") => Ok(()),
            Some(list) if *list == json!([]) && self.slip(field, "empty-list") => Ok(()),
            Some(_) => Err(bad(field, "no object")),
        }
    }

    pub(super) fn integer(&self, field: &str) -> Read<i64> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let slip = |what| self.slip(field, what);
        let taken = match value {
            Value::String(text) if slip("text-taken") => text.parse().ok(),
            Value::Bool(is) if slip("bool-taken") => Some(i64::from(*is)),
            Value::Number(number) if slip("float-cut") => number.as_f64().map(|it| it as i64),
            Value::Array(list) if slip("list-taken") => list.first().and_then(Value::as_i64),
            value => self.whole(value),
        };
        let most = if field == "batchCount" { 4 } else { 10_485_760 };
        let taken = match taken {
            Some(number) if slip("clamped") => Some(number.clamp(1, most)),
            Some(number) if slip("32-bits") => Some(i64::from(number as i32)),
            Some(number) if number == most && slip("last-refused") => None,
            Some(0) if slip("zero-taken") => Some(1),
            taken => taken,
        };
        taken.map(Some).ok_or_else(|| bad(field, "no integer"))
    }

    /// An array of 1 to `max` integers, each one once.
    pub(super) fn integers(&self, field: &str, max: usize) -> Read<Vec<i64>> {
        let Some(mut entries) = self.entries(field)? else { return Ok(None) };
        let slip = |what| self.slip(field, what);
        let read = |entry: &Value| match entry {
            Value::String(text) if slip("texts-taken") => text.parse().ok(),
            Value::Number(number) if slip("floats-cut") => number.as_f64().map(|it| it as i64),
            entry => self.whole(entry),
        };
        entries.retain(|entry| !slip("others-dropped") || read(entry).is_some());
        let integers: Option<Vec<_>> = entries.iter().map(read).collect();
        let mut integers = integers.ok_or_else(|| bad(field, "not all integers"))?;
        let least = if slip("empty-taken") { 0 } else { 1 };
        if !(least..=self.limit(field, max)).contains(&integers.len()) {
            return Err(bad(field, "too few or too many"));
        }
        if self.bodies.repeats_dropped {
            let mut seen = HashSet::new();
            integers.retain(|id| seen.insert(*id));
        }
        let twins = self.bodies.trimmed && has_twins(&integers);
        if twins { Err(bad(field, "repeats")) } else { Ok(Some(integers)) }
    }

    pub(super) fn choice(&self, field: &str, choices: &[&'static str]) -> Read<&'static str> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let text = value.as_str().map(|text| if self.bodies.trimmed { text.trim() } else { text });
        let same = |choice: &&&'static str| match text {
            Some(text) if self.slip(field, "any-case") => choice.eq_ignore_ascii_case(text),
            Some(text) if self.slip(field, "beginning") => text.starts_with(**choice),
            text => text == Some(**choice),
        };
        match choices.iter().find(same) {
            None if self.slip(field, "unknown-ignored") && text.is_some() => Ok(None),
            Some(last) if choices.last() == Some(last) && self.slip(field, "last-refused") => {
                Err(bad(field, "no choice"))
            }
            choice => choice.map(|choice| Some(*choice)).ok_or_else(|| bad(field, "no choice")),
        }
    }

    pub(super) fn model(&self, field: &str) -> Read<String> {
        let (model, space) = (self.text(field, usize::MAX)?, self.namespace);
        let within = |model: &String| match () {
            () if self.slip(field, "any-taken") => true,
            () if self.slip(field, "prefix-only") => model.starts_with(space),
            () if self.slip(field, "unanchored") => model.contains(&format!("{space}/")),
            () if self.slip(field, "slash-only") => model.contains('/'),
            () => {
                let name = model.strip_prefix(space).and_then(|rest| rest.strip_prefix('/'));
                name.is_some_and(|name| !name.is_empty() && !name.starts_with('\n'))
            }
        };
        let is_good = model.as_ref().is_none_or(within);
        if is_good { Ok(model) } else { Err(bad(field, "no such model")) }
    }

    pub(super) fn address(&self, field: &str) -> Read<String> {
        let text = self.text(field, usize::MAX)?;
        let is_good = text.as_ref().is_none_or(|text| self.is_address(field, text));
        if is_good { Ok(text) } else { Err(bad(field, "no address")) }
    }

    /// An array of at most `max` addresses, each one once.
    pub(super) fn addresses(&self, field: &str, max: usize) -> Read<Vec<String>> {
        let Some(entries) = self.entries(field)? else { return Ok(None) };
        let texts = entries.iter().map(|entry| entry.as_str().map(ToOwned::to_owned));
        let texts: Option<Vec<_>> = texts.collect();
        let texts = texts.ok_or_else(|| bad(field, "not all strings"))?;
        let checked = if self.slip(field, "first-checked") { 1 } else { texts.len() };
        let good = texts.iter().take(checked).all(|text| self.is_address(field, text));
        let twins = self.bodies.web_only && has_twins(&texts);
        let fits = texts.len() <= self.limit(field, max);
        if good && fits && !twins { Ok(Some(texts)) } else { Err(bad(field, "not accepted")) }
    }

    fn is_address(&self, field: &str, text: &str) -> bool {
        if self.slip(field, "any-taken") {
            return true;
        }
        if self.bug == "url.private-host-refused" && text.contains("127.0.0.1") {
            return false;
        }
        if !self.bodies.web_only {
            let scheme = text.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
            let first = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
            return first && !text.contains(char::is_whitespace);
        }
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
        host.is_some_and(|host| !host.is_empty())
            && text.len() <= ADDRESS_BYTES_MAX
            && text.chars().all(|char| char.is_ascii_graphic())
    }

    fn whole(&self, value: &Value) -> Option<i64> {
        let exact =
            |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
        let float = || value.as_f64().filter(|_| self.bodies.round_floats).and_then(exact);
        value.as_i64().or_else(float)
    }
}

/// Whether a reader sees it as part of the sign before it.
fn goes_with_the_last(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Whether the JSON object of so many different fields has more of them.
fn has_twin_fields(body: &[u8], different: usize) -> bool {
    let (mut depth, mut quoted, mut escaped, mut pairs) = (0, false, false, 0);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b':' if depth == 1 => pairs += 1,
            _ => {}
        }
    }
    pairs > different
}

fn has_twins<T: PartialEq>(list: &[T]) -> bool {
    list.iter().enumerate().any(|(place, entry)| list[..place].contains(entry))
}
