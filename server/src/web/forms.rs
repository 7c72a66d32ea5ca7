//! Forms: their fields, what was typed into them, and what is wrong with it.
//!
//! A refused form is shown again with its values and the errors of the API's own validation. After
//! success it leads to another page, so that a reload sends nothing again.

use http::StatusCode;
use http::request::Parts;
use maud::{Markup, Render, html};
use serde::Serialize;
use url::form_urlencoded;
use uuid::Uuid;

use crate::generate::SubmitError;
use crate::generate::submit::SubmissionError;
use crate::http::browser::Site;
use crate::http::error::{ApiError, Problem};
use crate::http::path::RequestTarget;

/// The field with the token of a form. It stays the same while the form is corrected; what must be
/// carried out once is carried out once for each token.
pub(super) const TOKEN: &str = "token";

/// Value and text of each choice.
pub(super) type Choices = Vec<(String, String)>;

/// A form of a page. Its fields have the names of the API.
#[derive(Default)]
pub(super) struct Form<'a> {
    /// The page that it is sent to. Default: the one that it is on.
    pub(super) action: Option<&'a str>,
    pub(super) fields: Vec<Field>,
    /// Fields behind a line that opens them, unless one has a value.
    pub(super) more: Vec<Field>,
    pub(super) button: &'a str,
    pub(super) back: Option<&'a str>,
}

impl<'a> Form<'a> {
    pub(super) fn new(button: &'a str, fields: Vec<Field>) -> Self {
        Self { button, fields, ..Self::default() }
    }
}

pub(super) struct Field {
    /// Also the id of its control.
    name: &'static str,
    label: &'static str,
    /// Below the control; may be empty.
    help: Markup,
    input: Input,
    is_required: bool,
}

/// The control of a field. None has a `maxlength`: browsers count other units than the API, which
/// says what is too long.
pub(super) enum Input {
    Hidden,
    Line,
    /// These, or another text; see [`without_replaced`].
    Choice(Vec<String>),
    Text(usize),
    Select(Choices),
    File(String),
}

impl Field {
    pub(super) fn new(name: &'static str, label: &'static str, input: Input) -> Self {
        Self { name, label, help: Markup::default(), input, is_required: false }
    }

    pub(super) fn hidden(name: &'static str) -> Self {
        Self::new(name, "", Input::Hidden)
    }

    pub(super) fn help(self, help: impl Render) -> Self {
        Self { help: help.render(), ..self }
    }

    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Entered {
    values: Vec<(String, String)>,
    pub(super) problem: Option<Problem>,
}

impl Entered {
    pub(super) fn of(record: impl Serialize) -> Self {
        let fields = serde_json::to_value(record).unwrap_or_default();
        let fields = fields.as_object().into_iter().flatten();
        let fields = fields.filter(|(_, value)| !value.is_null()).map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        });
        Self { values: fields.collect(), problem: None }
    }

    pub(super) fn parse(form: &[u8]) -> Self {
        Self { values: form_urlencoded::parse(form).into_owned().collect(), problem: None }
    }

    pub(super) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.values.retain(|(field, _)| field != name);
        self.values.push((name.into(), value.into()));
    }

    /// The same values with the reason of a refusal, or that if other values are no help.
    pub(super) fn refused(self, error: ApiError, parts: &Parts) -> Result<Self, ApiError> {
        let mut problem = error.problem(RequestTarget::new(parts.uri.path(), &parts.method));
        if let ApiError::Submission(SubmissionError::Provider(SubmitError::Refused(_))) = error {
            problem.status = StatusCode::BAD_REQUEST;
        }
        match problem.status.as_u16() {
            // Nothing was read of the form, so it would be empty.
            429 | 503 if self.values.is_empty() => Err(error),
            400 | 409 | 429 | 502 | 503 => Ok(Self { problem: Some(problem), ..self }),
            _ => Err(error),
        }
    }

    pub(super) fn value(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(field, _)| field == name).map(|(_, value)| &**value)
    }

    pub(super) fn id<Id: From<i64>>(&self, name: &str) -> Option<Id> {
        self.value(name).parse().ok().map(Id::from)
    }

    pub(super) fn status(&self) -> StatusCode {
        self.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status)
    }

    pub(super) fn form(&self, site: &Site, form: &Form<'_>) -> Markup {
        let Form { action, fields, more, button, back } = form;
        let token = Uuid::parse_str(self.value(TOKEN)).unwrap_or_else(|_| Uuid::new_v4());
        let is_upload = fields.iter().any(|field| matches!(field.input, Input::File(_)));
        let is_open = more.iter().any(|field| !self.value(field.name).is_empty());
        html! {
            (self.summary(form))
            form .fields method="post" action=[action.map(|page| site.page(page))] data-upload[is_upload]
                enctype=[is_upload.then_some("multipart/form-data")] {
                input type="hidden" name=(TOKEN) value=(token);
                @for field in fields { (self.field(field)) }
                @if !more.is_empty() {
                    details .wide open[is_open] {
                        summary { "More options" }
                        div .fields { @for field in more { (self.field(field)) } }
                    }
                }
                @if is_upload { progress hidden max="100" aria-label="Progress of the upload" {} }
                div .buttons {
                    button .main { (button) }
                    @if let Some(page) = back { a .button href=(site.page(page)) { "Cancel" } }
                }
            }
        }
    }

    /// What is wrong. Each error of a field leads to that field.
    fn summary(&self, Form { fields, more, .. }: &Form<'_>) -> Markup {
        let Some(Problem { text, details, .. }) = &self.problem else { return Markup::default() };
        let label = |name: &'static str| {
            let field = fields.iter().chain(more).find(|field| field.name == name);
            field.map_or(name, |field| field.label)
        };
        html! {
            div .card.refused role="alert" {
                @if details.0.is_empty() {
                    p { span .problem { bdi { (text) } } "." }
                } @else {
                    p { "Not saved. Please correct:" }
                    ul {
                        @for (name, error) in &details.0 {
                            li { a href={ "#" (name) } { (label(name)) } " " (error) }
                        }
                    }
                }
            }
        }
    }

    fn field(&self, field: &Field) -> Markup {
        let Field { name, label, help, input, is_required } = field;
        let value = self.value(name);
        let error = self.problem.as_ref().and_then(|problem| problem.details.0.get(name));
        let (about, invalid) = (format!("{name}-about"), error.map(|_| "true"));
        let is_wide = matches!(input, Input::Text(_) | Input::Line | Input::File(_));
        let (kind, accept) = match input {
            Input::File(types) => (Some("file"), Some(types)),
            _ => (None, None),
        };
        let control = match input {
            Input::Hidden => {
                let values = self.all(name).filter(|value| !value.is_empty());
                return html! { @for value in values { input type="hidden" name=(name) value=(value); } };
            }
            Input::Text(rows) => html! {
                textarea #(name) name=(name) rows=(rows) dir="auto" required[*is_required]
                    aria-describedby=(about) aria-invalid=[invalid] {
                    // A parser skips the first line break.
                    "\n" (value)
                }
            },
            Input::Select(choices) => html! {
                select #(name) name=(name) aria-describedby=(about) aria-invalid=[invalid] {
                    (options(choices, value))
                }
            },
            Input::Choice(all) => {
                let value =
                    self.all(name).filter(|value| !value.is_empty()).last().unwrap_or_default();
                let is_other = !value.is_empty() && all.iter().all(|known| known != value);
                html! {
                    select #(name) name=(name) aria-describedby=(about) aria-invalid=[invalid] {
                        @if !is_required { option value="" {} }
                        @for known in all { option dir="auto" selected[known == value] { (known) } }
                        option value="" selected[is_other] { "Other…" }
                    }
                    details .other open[is_other] {
                        summary { "Other" }
                        input name=(name) dir="auto" autocomplete="off" spellcheck="false"
                            aria-label={ "Other " (label.to_lowercase()) }
                            value=[is_other.then_some(value)];
                    }
                }
            }
            _ => html! {
                input #(name) name=(name) type=[kind] accept=[accept]
                    dir="auto" value=(value) autocomplete="off" spellcheck="false"
                    required[*is_required] aria-describedby=(about) aria-invalid=[invalid];
            },
        };
        html! {
            div .field.wide[is_wide] {
                label for=(name) { (label) }
                (control)
                div .about #(about) {
                    @if let Some(error) = error { p .error id={ (name) "-error" } { (label) " " (error) } }
                    @if !help.0.is_empty() { p .soft { (help) } }
                }
            }
        }
    }
}

/// A sent form without the choice that a typed text replaces: the last value of each of these counts.
pub(super) fn without_replaced(sent: &[u8], names: &[&str]) -> Vec<u8> {
    let all: Vec<_> = form_urlencoded::parse(sent).filter(|(_, value)| !value.is_empty()).collect();
    let is_replaced = |at: usize, name: &str| {
        names.contains(&name) && all[at + 1..].iter().any(|(other, _)| other == name)
    };
    let rest = all.iter().enumerate().filter(|(at, (name, _))| !is_replaced(*at, name));
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(rest.map(|(_, pair)| pair))
        .finish()
        .into_bytes()
}

pub(super) fn options(choices: &[(String, String)], chosen: &str) -> Markup {
    html! {
        @for (value, text) in choices {
            option value=(value) dir="auto" selected[value == chosen] { (text) }
        }
    }
}
