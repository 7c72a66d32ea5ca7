//! Reads raw values and collects what is wrong with them, each under the name by
//! which it came in.

use std::ffi::OsString;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Reads settings one by one.
pub(super) struct Reader<'a> {
    matches: &'a ArgMatches,
    faults: Vec<String>,
}

impl<'a> Reader<'a> {
    /// The flags are known on all levels, and those of a command on its own only.
    pub(super) fn new(mut matches: &'a ArgMatches) -> Self {
        while let Some((_, further)) = matches.subcommand() {
            matches = further;
        }
        Self { matches, faults: Vec::new() }
    }

    /// A setting that has one value or none. The rule's fault must not repeat the
    /// value of a secret.
    pub(super) fn one<T>(
        &mut self,
        id: &str,
        value: Option<&OsString>,
        rule: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = value?.to_str().ok_or_else(|| NOT_TEXT.to_owned());
        text.and_then(rule).map_err(|fault| self.faults.push(self.fault(id, "", &fault))).ok()
    }

    /// A setting that is repeated, or separated by white space in its variable.
    pub(super) fn many<T>(
        &mut self,
        id: &str,
        values: &[OsString],
        rule: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let mut read = Vec::new();
        let mut position = 0;
        for value in values {
            let Some(text) = value.to_str() else {
                self.faults.push(self.fault(id, "", NOT_TEXT));
                continue;
            };
            let several = self.is_variable(id);
            let parts: Vec<_> =
                if several { text.split_whitespace().collect() } else { vec![text] };
            if parts.is_empty() {
                self.faults.push(self.fault(id, "", "is empty"));
            }
            for part in parts {
                position += 1;
                match rule(part) {
                    Ok(value) => read.push(value),
                    Err(fault) => {
                        let which = format!(" number {position}");
                        self.faults.push(self.fault(id, &which, &fault));
                    }
                }
            }
        }
        read
    }

    /// clap forgets what stood before the command if the same flag stands after it
    /// too; a repeated flag must not lose values that way.
    pub(super) fn all_on_one_side(&mut self, id: &str, read: usize, arguments: &[OsString]) {
        let flag = self.name(id);
        let is_flag = |argument: &OsString| {
            let rest = argument.to_str().and_then(|argument| argument.strip_prefix(&flag));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        if arguments.iter().filter(|argument| is_flag(argument)).count() > read {
            self.faults.push(self.fault(id, "", "stands on both sides of the command; use one"));
        }
    }

    /// The flag or variable a setting came by.
    pub(super) fn name(&self, id: &str) -> String {
        if self.is_variable(id) {
            format!("PROMPTARIUM_{}", id.to_ascii_uppercase())
        } else {
            format!("--{}", id.replace('_', "-"))
        }
    }

    /// Whether nobody gave it.
    pub(super) fn is_default(&self, id: &str) -> bool {
        self.matches.value_source(id) == Some(ValueSource::DefaultValue)
    }

    /// Something is wrong with what goes by this name.
    pub(super) fn fault_of(&mut self, name: &str, fault: &str) {
        self.faults.push(format!("{name} {fault}"));
    }

    /// All that was wrong.
    pub(super) fn finish(self) -> Vec<String> {
        self.faults
    }

    fn fault(&self, id: &str, which: &str, fault: &str) -> String {
        format!("{}{which} {fault}", self.name(id))
    }

    fn is_variable(&self, id: &str) -> bool {
        self.matches.value_source(id) == Some(ValueSource::EnvVariable)
    }
}

const NOT_TEXT: &str = "is not readable: it is not UTF-8 text";
