//! The parameters behind the `?` of an address, of which some are not for the driver.

use super::address::AddressError;

/// How libpq calls the number of probes after which a silent connection is given up.
pub(super) const PROBES: &str = "keepalives_count";

/// Parameters, still as they were written.
pub(super) struct Query<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Query<'a> {
    /// The address without its parameters, and these.
    pub(super) fn split(text: &'a str) -> Result<(String, Self), AddressError> {
        let rest =
            ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let rest = rest.ok_or(AddressError::Scheme)?;
        // As in libpq: credentials end at the first `@`, if no `/` comes before it.
        let credentials = rest.find(['@', '/']).filter(|at| rest.as_bytes()[*at] == b'@');
        let (credentials, rest) = rest.split_at(credentials.map_or(0, |at| at + 1));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        // The driver would take a later `@` for the end of credentials, and might
        // show a piece of a password as if it were a host.
        let plain = format!("postgres://{credentials}{}", place.replace('@', "%40"));
        let parts = query.split('&').filter(|part| !part.is_empty());
        Ok((plain, Self(parts.map(|part| part.split_once('=').unwrap_or((part, ""))).collect())))
    }

    /// Takes the last value of a parameter out.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let (taken, rest): (Vec<_>, _) = self.0.iter().partition(|(found, _)| *found == name);
        self.0 = rest;
        taken.last().map(|(_, value)| decoded(value))
    }

    /// Takes a whole number out.
    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<u64>, AddressError> {
        let number = self.take(name).map(|value| value.parse());
        let expected = "a whole number, not below 0";
        number.transpose().map_err(|_| AddressError::Parameter { name, expected })
    }

    /// Whether a parameter is among those left.
    pub(super) fn names(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| *found == name)
    }

    /// An address with the parameters that are left.
    pub(super) fn with(&self, plain: &str) -> String {
        let mut text = plain.to_owned();
        let mut mark = '?';
        for (name, value) in &self.0 {
            // The driver takes the whole of several hosts for one, and has its own
            // name for the number of probes.
            let values: Vec<_> = match *name {
                "host" => value.split(',').collect(),
                _ => vec![*value],
            };
            let name = if *name == PROBES { "keepalives_retries" } else { name };
            for value in values {
                text.push(mark);
                text.push_str(&format!("{name}={value}").replace('@', "%40"));
                mark = '&';
            }
        }
        text
    }
}

/// Without percent signs; unlike in a form, a plus is a plus.
fn decoded(value: &str) -> String {
    percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned()
}
