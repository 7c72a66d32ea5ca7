//! The fields of a body, read one at a time; the first fault is the answer.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::answer::{Refusal, bad, refused, unreadable};
use super::choices::{Bodies, Choices};
use super::wire::ApiRequest;

/// Longer addresses are refused by a server that takes those of the web only.
const ADDRESS_BYTES_MAX: usize = 2000;

/// The fields of one body.
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
    pub(super) fn read(
        choices: &'static Choices,
        request: &ApiRequest,
        known: &str,
    ) -> Result<Self, Refusal> {
        let (bodies, namespace) = (&choices.bodies, choices.namespace);
        let (bug, name) = (choices.bug, name_of(request));
        let lenient = bodies.known_fields_only;
        if !lenient && request.content_type != "application/json" {
            return Err(refused(choices.statuses.no_json, "No JSON"));
        }
        if lenient && request.body.trim_ascii().is_empty() {
            return Ok(Self { fields: Map::new(), bodies, namespace, bug, request: name });
        }
        if choices.bug("body.broken-500") && serde_json::from_slice::<Value>(&request.body).is_err()
        {
            return Err(refused(500, "Unexpected token in JSON"));
        }
        if choices.bug("body.broken-is-empty")
            && serde_json::from_slice::<Value>(&request.body).is_err()
        {
            return Ok(Self { fields: Map::new(), bodies, namespace, bug, request: name });
        }
        let Ok(Value::Object(fields)) = serde_json::from_slice(&request.body) else {
            return Err(refused(choices.statuses.unreadable, "No JSON object"));
        };
        if bodies.twins_refused && has_twin_fields(&request.body, fields.len()) {
            return Err(unreadable());
        }
        match fields.keys().find(|field| !known.split(' ').any(|name| name == *field)) {
            Some(field) if lenient => Err(bad(field, "unknown")),
            _ => Ok(Self { fields, bodies, namespace, bug, request: name }),
        }
    }

    /// Whether the field is there, with a value or `null`.
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    /// Refuses a platform that is `null`, on a server that minds.
    pub(super) fn no_null_platform(&self) -> Result<(), Refusal> {
        let is_null = self.fields.get("platform").is_some_and(Value::is_null);
        let minds = self.bodies.platform_needs_text;
        if minds && is_null { Err(bad("platform", "null")) } else { Ok(()) }
    }

    /// A platform; empty on a server that does not mind, for `null` too.
    pub(super) fn platform(&self, max: usize) -> Result<Option<String>, Refusal> {
        match self.fields.get("platform") {
            Some(Value::Null) if !self.bodies.platform_needs_text => Ok(Some(String::new())),
            _ => self.any_text("platform", max),
        }
    }

    /// A text that may be `null`.
    pub(super) fn nullable_text(&self, field: &str, max: usize) -> Result<Option<String>, Refusal> {
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
        if value.is_null() && self.slip(field, "null-absent") { None } else { Some(value) }
    }

    /// The limit of a field.
    fn limit(&self, field: &str, max: usize) -> usize {
        match () {
            () if self.slip(field, "one-more") => max + 1,
            () if self.slip(field, "one-less") => max - 1,
            () if self.slip(field, "unlimited") => usize::MAX,
            () => max,
        }
    }

    /// The entries of an array.
    fn entries(&self, field: &str, value: &Value) -> Result<Vec<Value>, Refusal> {
        let mut entries = match value {
            Value::Array(entries) => entries.clone(),
            one if self.slip(field, "single-taken") => vec![one.clone()],
            _ => return Err(bad(field, "no array")),
        };
        if self.slip(field, "distinct") {
            let mut seen = HashSet::new();
            entries.retain(|entry| seen.insert(entry.to_string()));
        }
        Ok(entries)
    }

    /// A text of at least one character.
    pub(super) fn text(&self, field: &str, max: usize) -> Result<Option<String>, Refusal> {
        match self.any_text(field, max)? {
            Some(text) if text.is_empty() && !self.slip(field, "empty-taken") => {
                Err(bad(field, "empty"))
            }
            Some(text) if text == "0" && self.bug == "empty.zero-400" => Err(bad(field, "missing")),
            None if self.slip(field, "missing-taken") => Ok(Some("Untitled".to_owned())),
            text => Ok(text),
        }
    }

    /// A text; on a server that trims, blank ones are refused.
    pub(super) fn any_text(&self, field: &str, max: usize) -> Result<Option<String>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        if self.slip(field, "number-taken") && !value.is_string() && !value.is_null() {
            return Ok(Some(value.to_string()));
        }
        let text = value.as_str().ok_or_else(|| bad(field, "no string"))?;
        if self.slip(field, "cut") {
            return Ok(Some(text.chars().take(max).collect()));
        }
        let max = self.limit(field, max);
        if self.slip(field, "bytes") && text.len() > max
            || self.slip(field, "utf16") && text.encode_utf16().count() > max
        {
            return Err(bad(field, "too long"));
        }
        let (text, length) = match self.bodies.trimmed {
            true => (text.trim(), text.trim().chars().count()),
            false => (text, text.chars().filter(|char| !goes_with_the_last(*char)).count()),
        };
        match text {
            "" if self.bodies.trimmed => Err(bad(field, "blank")),
            _ if length > max => Err(bad(field, "too long")),
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
    pub(super) fn ratio(&self, field: &str, max: usize) -> Result<Option<String>, Refusal> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_ratio = |text: &str| {
            text.split_once(':').is_some_and(|(one, other)| is_number(one) && is_number(other))
        };
        match self.any_text(field, max)? {
            Some(text) if self.bodies.ratios_only && !is_ratio(&text) => {
                Err(bad(field, "no ratio"))
            }
            text => Ok(text),
        }
    }

    /// An object.
    pub(super) fn object(&self, field: &str) -> Result<(), Refusal> {
        match self.value(field) {
            None | Some(Value::Object(_)) => Ok(()),
            Some(_) if self.slip(field, "any-taken") => Ok(()),
            Some(list) if *list == serde_json::json!([]) && self.slip(field, "empty-list") => {
                Ok(())
            }
            Some(_) => Err(bad(field, "no object")),
        }
    }

    /// An integer.
    pub(super) fn integer(&self, field: &str) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let taken = match value {
            Value::String(text) if self.slip(field, "text-taken") => text.parse().ok(),
            Value::Bool(is) if self.slip(field, "bool-taken") => Some(i64::from(*is)),
            Value::Number(number) if self.slip(field, "float-cut") => {
                number.as_f64().map(|float| float as i64)
            }
            Value::Array(list) if self.slip(field, "list-taken") => {
                list.first().and_then(Value::as_i64)
            }
            value => self.whole(value),
        };
        let most = if field == "batchCount" { 4 } else { 10_485_760 };
        let taken = match taken {
            Some(number) if self.slip(field, "clamped") => Some(number.clamp(1, most)),
            Some(number) if self.slip(field, "32-bits") => Some(i64::from(number as i32)),
            Some(number) if number == most && self.slip(field, "last-refused") => None,
            Some(0) if self.slip(field, "zero-taken") => Some(1),
            taken => taken,
        };
        taken.map(Some).ok_or_else(|| bad(field, "no integer"))
    }

    /// An array of 1 to `max` integers, each one once.
    pub(super) fn integers(&self, field: &str, max: usize) -> Result<Option<Vec<i64>>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let entries = self.entries(field, value)?;
        let read = |entry: &Value| match entry {
            Value::String(text) if self.slip(field, "texts-taken") => text.parse().ok(),
            Value::Number(number) if self.slip(field, "floats-cut") => {
                number.as_f64().map(|f| f as i64)
            }
            entry => self.whole(entry),
        };
        let integers: Option<Vec<_>> = match self.slip(field, "others-dropped") {
            true => Some(entries.iter().filter_map(read).collect()),
            false => entries.iter().map(read).collect(),
        };
        let mut integers = integers.ok_or_else(|| bad(field, "not all integers"))?;
        let max = self.limit(field, max);
        if integers.is_empty() && self.slip(field, "empty-taken") {
            return Ok(Some(integers));
        }
        if integers.is_empty() || integers.len() > max {
            return Err(bad(field, "too few or too many"));
        }
        if self.bodies.repeats_dropped {
            let mut seen = HashSet::new();
            integers.retain(|id| seen.insert(*id));
        }
        if self.bodies.trimmed && has_twins(&integers) {
            Err(bad(field, "repeats"))
        } else {
            Ok(Some(integers))
        }
    }

    /// One of `choices`.
    pub(super) fn choice(
        &self,
        field: &str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let text = value.as_str().map(|text| if self.bodies.trimmed { text.trim() } else { text });
        if self.slip(field, "unknown-ignored") && text.is_some_and(|text| !choices.contains(&text))
        {
            return Ok(None);
        }
        let same = |choice: &&&'static str| match text {
            Some(text) if self.slip(field, "any-case") => choice.eq_ignore_ascii_case(text),
            Some(text) if self.slip(field, "beginning") => text.starts_with(**choice),
            text => text == Some(**choice),
        };
        let choice = choices.iter().find(same);
        let choice = choice
            .filter(|choice| Some(*choice) != choices.last() || !self.slip(field, "last-refused"));
        choice.map(|choice| Some(*choice)).ok_or_else(|| bad(field, "no choice"))
    }

    /// A model of the namespace.
    pub(super) fn model(&self, field: &str) -> Result<Option<String>, Refusal> {
        let model = self.text(field, usize::MAX)?;
        let within = |model: &str| {
            if self.slip(field, "any-taken") {
                return Some('/');
            }
            if self.slip(field, "prefix-only") {
                return model.starts_with(self.namespace).then_some('/');
            }
            if self.slip(field, "unanchored") {
                return model.contains(&format!("{}/", self.namespace)).then_some('/');
            }
            if self.slip(field, "slash-only") {
                return model.contains('/').then_some('/');
            }
            let rest = model.strip_prefix(self.namespace)?.strip_prefix('/')?;
            rest.chars().next().filter(|first| *first != '\n')
        };
        match model {
            Some(model) if within(&model).is_none() => Err(bad(field, "no such model")),
            model => Ok(model),
        }
    }

    /// An address.
    pub(super) fn address(&self, field: &str) -> Result<Option<String>, Refusal> {
        match self.text(field, usize::MAX)? {
            Some(text) if !self.is_address(&text) && !self.slip(field, "any-taken") => {
                Err(bad(field, "no address"))
            }
            text => Ok(text),
        }
    }

    /// An array of at most `max` addresses, each one once.
    pub(super) fn addresses(
        &self,
        field: &str,
        max: usize,
    ) -> Result<Option<Vec<String>>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let entries = self.entries(field, value)?;
        let texts = entries.iter().map(|entry| entry.as_str().map(ToOwned::to_owned));
        let texts: Option<Vec<_>> = texts.collect();
        let texts = texts.ok_or_else(|| bad(field, "not all strings"))?;
        let max = self.limit(field, max);
        let is_good = |text: &String| self.slip(field, "any-taken") || self.is_address(text);
        let checked = if self.slip(field, "first-checked") { 1 } else { texts.len() };
        let good = texts.len() <= max && texts.iter().take(checked).all(is_good);
        let twins = self.bodies.web_only && has_twins(&texts);
        if good && !twins { Ok(Some(texts)) } else { Err(bad(field, "not accepted")) }
    }

    fn is_address(&self, text: &str) -> bool {
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
