//! Variables in the text of a prompt: `{{name}}` and `{{name|default}}`.

use crate::model::Prompt;

const NAME_CHARS_MAX: usize = 64;

/// A variable in the text of a prompt.
///
/// `{{name}}` needs a value, `{{name|default}}` has one. A name consists of letters, digits, `_`,
/// `-`, `.` and spaces, and begins with a letter, a digit or `_`; blanks around it and around the
/// default do not count. Other text between braces is not a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The value where none is given: the first default of this name in the text.
    pub default: Option<String>,
}

impl Variable {
    /// The variables of a text, each once, in the order in which they appear first.
    pub fn all_in(text: &str) -> Vec<Self> {
        let mut variables = Vec::<Self>::new();
        for piece in pieces(text) {
            let Some((name, default)) = piece.variable else { continue };
            let default = default.map(str::to_owned);
            match variables.iter_mut().find(|variable| variable.name == name) {
                Some(known) => known.default = known.default.take().or(default),
                None => variables.push(Self { name: name.to_owned(), default }),
            }
        }
        variables
    }

    /// The text in pieces, in order: each is a variable with its braces, or other text.
    ///
    /// ```
    /// use promptarium::Variable;
    ///
    /// let pieces: Vec<_> = Variable::split("About {{topic}}").collect();
    /// assert_eq!(pieces, [("About ", false), ("{{topic}}", true)]);
    /// ```
    pub fn split(text: &str) -> impl Iterator<Item = (&str, bool)> {
        let pieces = pieces(text).map(|piece| (piece.text, piece.variable.is_some()));
        pieces.filter(|(text, _)| !text.is_empty())
    }

    /// The text with these values in the place of its variables. One without a value gets its
    /// default, or stays as it is. Variables within a value are not replaced.
    pub fn fill<V: AsRef<str>>(text: &str, value: impl Fn(&str) -> Option<V>) -> String {
        let variables = Self::all_in(text);
        let mut filled = String::with_capacity(text.len());
        for Piece { text, variable } in pieces(text) {
            let Some((name, default)) = variable else {
                filled.push_str(text);
                continue;
            };
            let value = value(name);
            let first = variables.iter().find(|variable| variable.name == name);
            let first = first.and_then(|variable| variable.default.as_deref());
            let value = value.as_ref().map(AsRef::as_ref).or(default).or(first);
            filled.push_str(value.unwrap_or(text));
        }
        filled
    }
}

impl Prompt {
    /// The variables of the text; see [`Variable`].
    ///
    /// ```
    /// # use promptarium::Prompt;
    /// # fn example(prompt: &Prompt) {
    /// // Of "Write {{count|3}} lines about {{topic}}".
    /// for variable in prompt.variables() {
    ///     println!("{}: {:?}", variable.name, variable.default);
    /// }
    /// let text = prompt.filled(|name| (name == "topic").then_some("the sea"));
    /// // text == "Write 3 lines about the sea"
    /// # }
    /// ```
    pub fn variables(&self) -> Vec<Variable> {
        Variable::all_in(&self.text)
    }

    /// The text with these values in the place of its variables; see [`Variable::fill`].
    pub fn filled<V: AsRef<str>>(&self, value: impl Fn(&str) -> Option<V>) -> String {
        Variable::fill(&self.text, value)
    }

    /// The names of the variables that have no default and for which there is no value.
    pub fn missing(&self, has_value: impl Fn(&str) -> bool) -> Vec<String> {
        let variables = self.variables().into_iter();
        let missing = variables.filter(|it| it.default.is_none() && !has_value(&it.name));
        missing.map(|variable| variable.name).collect()
    }
}

struct Piece<'a> {
    /// That of a variable has its braces.
    text: &'a str,
    /// The name and the default.
    variable: Option<(&'a str, Option<&'a str>)>,
}

/// The text in pieces. Between nested braces only the innermost ones count.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = Some(text);
    let plain = |text| Piece { text, variable: None };
    let pieces = std::iter::from_fn(move || {
        let all = rest?;
        let Some((head, tail)) = all.split_once("}}") else {
            return rest.take().map(|last| [plain(last), plain("")]);
        };
        rest = Some(tail);
        let variable = head.rsplit_once("{{").and_then(|(before, inner)| {
            let (name, default) = inner.split_once('|').unzip();
            let (name, default) = (name.unwrap_or(inner).trim(), default.map(str::trim));
            let text = all.get(before.len()..all.len().saturating_sub(tail.len()))?;
            let variable = Piece { text, variable: Some((name, default)) };
            is_name(name).then_some([plain(before), variable])
        });
        Some(variable.unwrap_or([plain(head), plain("}}")]))
    });
    pieces.flatten()
}

fn is_name(name: &str) -> bool {
    let is_inner = |char: char| char.is_alphanumeric() || "_-. ".contains(char);
    name.starts_with(|char: char| char.is_alphanumeric() || char == '_')
        && name.chars().all(is_inner)
        && name.chars().count() <= NAME_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, Option<String>)> {
        Variable::all_in(text).into_iter().map(|it| (it.name, it.default)).collect()
    }

    fn variable(name: &str, default: Option<&str>) -> (String, Option<String>) {
        (name.to_owned(), default.map(str::to_owned))
    }

    fn filled(text: &str) -> String {
        Variable::fill(text, |name| match name {
            "a" => Some("{{b}}"),
            "naïve name" => Some("ok"),
            "empty" => Some(""),
            _ => None,
        })
    }

    #[test]
    fn variables_are_found_once_in_order_with_their_first_default() {
        let text = "{{a}} {{ b | two words }}, {{a|1}} {{a|2}} {{naïve name}} {{c|}}";
        let expected = [
            variable("a", Some("1")),
            variable("b", Some("two words")),
            variable("naïve name", None),
            variable("c", Some("")),
        ];
        assert_eq!(names(text), expected);
    }

    #[test]
    fn other_text_between_braces_is_no_variable() {
        let long = format!("{{{{{}}}}}", "x".repeat(65));
        for text in
            ["", "{{}}", "{{ }}", "{{#if x}}", "{{a\nb}}", "{{a", "a}}", "{a}", "}}{{", &long]
        {
            assert_eq!(names(text), [], "{text}");
            assert_eq!(filled(text), text);
        }
    }

    #[test]
    fn of_nested_braces_the_innermost_count() {
        assert_eq!(names("{{x {{a}} }}"), [variable("a", None)]);
        assert_eq!(filled("{\"k\": {{{d|1}}}}"), "{\"k\": {1}}");
    }

    #[test]
    fn values_replace_variables_and_are_not_replaced_themselves() {
        assert_eq!(filled("{{a}} {{ naïve name }}{{empty|full}}."), "{{b}} ok.");
    }

    #[test]
    fn without_a_value_the_default_counts_and_without_a_default_the_text_stays() {
        assert_eq!(filled("{{b|1}} {{b}} {{b|2}} {{ c }}"), "1 1 2 {{ c }}");
    }

    #[test]
    fn a_long_text_of_braces_is_read_in_one_pass() {
        let text = "{{".repeat(100_000) + &"}}".repeat(100_000);
        assert_eq!(filled(&text), text);
    }
}
