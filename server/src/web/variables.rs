//! The text of a prompt: its variables are marked, and filled in by a form.

use std::borrow::Cow;

use promptarium::Variable;

use super::prelude::*;

/// Begins the name of the field of a variable.
const PREFIX: &str = "var.";
const VARIABLES_MAX: usize = 50;

/// The text with the values in the query, which the script can copy, and the form for the values. The
/// form leads to `action`, the page that it is on, with these fields kept.
pub(super) fn text(text: &str, query: &Entered, action: &str, kept: &[(&str, &str)]) -> Markup {
    let variables = Variable::all_in(text);
    let field = |name: &str| format!("{PREFIX}{name}");
    let value = |name: &str| Some(query.value(&field(name))).filter(|value| !value.is_empty());
    let is_filled = variables.iter().any(|variable| value(&variable.name).is_some());
    let shown: Cow<'_, str> = match is_filled {
        true => Variable::fill(text, value).into(),
        false => text.into(),
    };
    html! {
        @if !variables.is_empty() {
            form .card.fields action=(action) {
                @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
                @for variable in variables.iter().take(VARIABLES_MAX) {
                    @let id = field(&variable.name);
                    div .field {
                        label for=(id) { bdi { (variable.name) } }
                        input id=(id) name=(id) dir="auto" autocomplete="off"
                            placeholder=[variable.default.as_deref()]
                            value=(value(&variable.name).unwrap_or_default());
                    }
                }
                div .buttons {
                    button .main { "Fill in" }
                    @if is_filled { a .button href=(action) { "Clear" } }
                }
            }
        }
        (full_text(marked(&shown)))
    }
}

/// A text whose variables are marked.
fn marked(text: &str) -> Markup {
    html! {
        @for (piece, is_variable) in Variable::split(text) {
            @if is_variable { mark { (piece) } } @else { (piece) }
        }
    }
}
