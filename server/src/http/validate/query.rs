//! Fields of a query string.

use std::borrow::Cow;

use url::form_urlencoded;

use crate::http::validate::Form;

/// The parameters among `known` of a query string. Others are ignored; a known
/// one that is there twice or empty is refused.
pub fn fields_of_query<'a>(
    query: Option<&'a str>,
    known: &'static [&'static str],
) -> Form<Cow<'a, str>> {
    let mut form = Form::new();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let Some(known) = known.iter().find(|known| **known == name) else {
            continue;
        };
        if form.fields.iter().any(|(field, _)| field == known) {
            form.refuse(known, "must be given once, but is given more than once".to_owned());
        } else if value.is_empty() {
            form.refuse(known, "must not be empty; leave it out instead".to_owned());
        } else {
            form.fields.push((known, value));
        }
    }
    form
}
