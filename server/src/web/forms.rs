//! Forms: their fields, what was typed into them, and what is wrong with it.
//!
//! A form is shown with its values, and again with the same values and the errors of the API's own
//! validation beside the fields if it is refused. After success it leads to another page, so that
//! loading that page again sends nothing again.

use std::ops::RangeInclusive;

use maud::{Markup, Render, html};
use uuid::Uuid;

pub(super) use super::entered::Entered;
use crate::http::browser::Site;
use crate::http::error::Problem;

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
    /// The text of its button.
    pub(super) button: &'a str,
    /// Where a link leads that leaves the form.
    pub(super) back: Option<&'a str>,
    /// It asks before something is done that cannot be undone.
    pub(super) is_danger: bool,
}

impl<'a> Form<'a> {
    pub(super) fn new(button: &'a str, fields: Vec<Field>) -> Self {
        Self { button, fields, ..Self::default() }
    }
}

/// A field of a form.
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
    /// All values of the field.
    Hidden,
    /// A box to tick, with its value.
    Check(&'static str),
    Line,
    WideLine,
    Suggested(Vec<String>),
    /// With this many rows.
    Text(usize),
    Number(RangeInclusive<u32>),
    Select(Choices),
    /// Value, text and explanation of each choice.
    Radios(&'static [(&'static str, &'static str, &'static str)]),
    /// A file of one of these media types.
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

impl Entered {
    /// The form with these values, below what is wrong with them.
    pub(super) fn form(&self, site: &Site, form: &Form<'_>) -> Markup {
        let Form { action, fields, more, button, back, is_danger } = form;
        let token = Uuid::parse_str(self.value(TOKEN)).unwrap_or_else(|_| Uuid::new_v4());
        let is_upload = fields.iter().any(|field| matches!(field.input, Input::File(_)));
        let is_open = more.iter().any(|field| !self.value(field.name).is_empty());
        let (class, leave) = if *is_danger { ("danger", "Keep") } else { ("main", "Cancel") };
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
                    button .(class) { (button) }
                    @if let Some(page) = back { a .button href=(site.page(page)) { (leave) } }
                }
            }
        }
    }

    /// What is wrong. Each error of a field leads to that field.
    fn summary(&self, Form { fields, more, .. }: &Form<'_>) -> Markup {
        let Some(Problem { text, details, .. }) = &self.problem else { return Markup::default() };
        let known = |name: &str| fields.iter().chain(more).find(|field| field.name == name);
        html! {
            div .card.refused role="alert" {
                @if details.0.is_empty() {
                    p { span .problem { bdi { (text) } } "." }
                } @else {
                    p { "Not saved. Please correct:" }
                    ul {
                        @for (name, error) in &details.0 {
                            li {
                                @if let Some(Field { label, .. }) = known(name) {
                                    a href={ "#" (name) } { (label) }
                                } @else { (name) }
                                " " (error)
                            }
                        }
                    }
                }
            }
        }
    }

    /// A field with its label, help and error.
    fn field(&self, field: &Field) -> Markup {
        let Field { name, label, help, input, .. } = field;
        let error = self.problem.as_ref().and_then(|problem| problem.details.0.get(name));
        let (error_id, about_id) = (format!("{name}-error"), format!("{name}-about"));
        let is_wide = matches!(input, Input::Text(_) | Input::WideLine | Input::File(_));
        let about = html! {
            div .about #(about_id) {
                @if let Some(error) = error { p .error id=(error_id) { (label) " " (error) } }
                @if !help.0.is_empty() { p .soft { (help) } }
            }
        };
        html! {
            @match input {
                Input::Hidden => {
                    @for value in self.all(name).filter(|value| !value.is_empty()) {
                        input type="hidden" name=(name) value=(value);
                    }
                }
                Input::Check(value) => {
                    label .choice.wide { input type="checkbox" name=(name) value=(value); (label) }
                }
                Input::Radios(choices) => {
                    fieldset #(name) .field.wide tabindex="-1" aria-describedby=(about_id) {
                        legend { (label) }
                        @for (value, text, meaning) in *choices {
                            label .choice {
                                input type="radio" name=(name) value=(value)
                                    checked[*value == self.value(name)];
                                span { (text) " " span .soft { (meaning) } }
                            }
                        }
                        (about)
                    }
                }
                _ => {
                    div .field.wide[is_wide] {
                        label for=(name) { (label) }
                        (self.control(field, &about_id, error.map(|_| "true")))
                        (about)
                    }
                }
            }
        }
    }

    fn control(&self, field: &Field, about: &str, invalid: Option<&str>) -> Markup {
        let Field { name, input, is_required, .. } = field;
        let (value, list) = (self.value(name), format!("{name}-list"));
        let (kind, range, accept, suggested) = match input {
            Input::Number(range) => (Some("number"), Some(range), None, None),
            Input::File(types) => (Some("file"), None, Some(types), None),
            Input::Suggested(all) => (None, None, None, Some(all)),
            _ => (None, None, None, None),
        };
        html! {
            @match input {
                Input::Text(rows) => {
                    textarea #(name) name=(name) rows=(rows) dir="auto" required[*is_required]
                        aria-describedby=(about) aria-invalid=[invalid] {
                        // A parser skips the first line break.
                        "\n" (value)
                    }
                }
                Input::Select(choices) => {
                    select #(name) name=(name) aria-describedby=(about) aria-invalid=[invalid] {
                        @for (choice, text) in choices {
                            option value=(choice) dir="auto" selected[choice == value] { (text) }
                        }
                    }
                }
                _ => {
                    input #(name) name=(name) type=[kind] min=[range.map(RangeInclusive::start)]
                        max=[range.map(RangeInclusive::end)] accept=[accept]
                        list=[suggested.map(|_| &list)] dir="auto" value=(value) autocomplete="off"
                        spellcheck="false" required[*is_required] aria-describedby=(about)
                        aria-invalid=[invalid];
                }
            }
            @if let Some(all) = suggested {
                datalist id=(list) { @for text in all { option dir="auto" value=(text); } }
            }
        }
    }
}
