//! The fields of forms, and the controls that browsers show for them.

use std::ops::RangeInclusive;

use maud::{Markup, html};

/// A field of a form. Its name is that of the API, and the id of its control.
pub(super) struct Field<'a> {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    /// Below the control; may be empty.
    pub(super) help: &'a str,
    pub(super) input: Input<'a>,
    pub(super) is_required: bool,
}

impl<'a> Field<'a> {
    pub(super) const fn new(name: &'static str, label: &'static str, input: Input<'a>) -> Self {
        Self { name, label, help: "", input, is_required: false }
    }

    pub(super) const fn help(self, help: &'a str) -> Self {
        Self { help, ..self }
    }

    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Its name and label, for [`Entered::summary`].
    pub(super) const fn label(&self) -> (&'static str, &'static str) {
        (self.name, self.label)
    }
}

/// The control of a field. None has a `maxlength`: browsers count other units than the API, which
/// says what is too long.
pub(super) enum Input<'a> {
    Line,
    /// A line as wide as the form.
    Title,
    /// With suggestions.
    Suggested(&'a [String]),
    Text {
        rows: usize,
    },
    Number(RangeInclusive<u32>),
    /// Value and text of each choice.
    Select(&'a [(String, String)]),
    /// Value, text and explanation of each choice.
    Radios(&'a [(&'a str, &'a str, &'a str)]),
}

/// What all controls have.
pub(super) struct Attributes<'a> {
    pub(super) name: &'a str,
    pub(super) described: Option<String>,
    pub(super) invalid: Option<&'static str>,
    pub(super) is_required: bool,
}

impl Attributes<'_> {
    pub(super) fn control(&self, input: &Input<'_>, value: &str) -> Markup {
        let Self { name, described, invalid, is_required } = self;
        match input {
            Input::Text { rows } => html! {
                textarea #(name) name=(name) rows=(rows) dir="auto" required[*is_required]
                    aria-describedby=[described] aria-invalid=[invalid] {
                    // A parser skips the first line break.
                    "\n" (value)
                }
            },
            Input::Select(choices) => html! {
                select #(name) name=(name) aria-describedby=[described] aria-invalid=[invalid] {
                    @for (choice, text) in *choices {
                        option value=(choice) dir="auto" selected[choice == value] { (text) }
                    }
                }
            },
            Input::Number(range) => html! {
                input #(name) name=(name) type="number" min=(range.start()) max=(range.end())
                    value=(value) required[*is_required] aria-describedby=[described]
                    aria-invalid=[invalid];
            },
            Input::Line | Input::Title | Input::Suggested(_) | Input::Radios(_) => {
                let list = format!("{name}-list");
                let suggestions = if let Input::Suggested(all) = input { *all } else { &[] };
                html! {
                    input #(name) name=(name) dir="auto" value=(value) autocomplete="off"
                        spellcheck="false" required[*is_required]
                        list=[(!suggestions.is_empty()).then_some(&list)]
                        aria-describedby=[described] aria-invalid=[invalid];
                    @if !suggestions.is_empty() {
                        datalist id=(list) { @for text in suggestions { option dir="auto" value=(text); } }
                    }
                }
            }
        }
    }
}
