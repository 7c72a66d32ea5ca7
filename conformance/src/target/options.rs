//! How a run behaves towards its target, and the flags that say so.

use std::time::Duration;

use clap::ValueEnum as _;
use http::Method;

use super::{Http, TargetConfig};
use crate::Failure;
use crate::exchange::quoted;

/// How a run behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunOptions {
    /// What every wait is multiplied with.
    pub time_scale: f64,
    /// Nothing but `GET` and `HEAD` is sent.
    pub read_only: bool,
    /// What was created stays where it is.
    pub keep: bool,
    /// Scenarios that pass keep their steps for the report too.
    pub trace: bool,
    /// The most requests in a second.
    pub rate: Option<u32>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { time_scale: 1.0, read_only: false, keep: false, trace: false, rate: None }
    }
}

impl RunOptions {
    /// Whether a request of this method may be sent; whatever sends asks here. The failure is one
    /// of the suite, in a run that may only read.
    pub fn allow(&self, method: &Method) -> Result<(), Failure> {
        if self.read_only && !matches!(*method, Method::GET | Method::HEAD) {
            let got = format!("it wanted to send {method}, which was not sent");
            return Err(Failure::error("a scenario that only reads", got));
        }
        Ok(())
    }
}

impl TargetConfig {
    /// How long one answer may take by default, in seconds.
    pub const TIMEOUT_SECONDS: u16 = 30;

    /// The flags that are not at their defaults, ready for a shell, so that a report can print the
    /// command that repeats the run. Base URL and keys are added elsewhere.
    pub(crate) fn flags(&self) -> Vec<String> {
        let Self { timeout, http, authorities, options, .. } = self;
        let mut flags = Vec::new();
        if *timeout != Duration::from_secs(Self::TIMEOUT_SECONDS.into()) {
            flags.push(format!("--timeout {}", timeout.as_secs_f64().ceil()));
        }
        if options.time_scale != RunOptions::default().time_scale {
            flags.push(format!("--time-scale {}", options.time_scale));
        }
        if let Some(file) = authorities.file() {
            flags.push(format!("--cacert {}", quoted(&file.to_string_lossy())));
        }
        let version = http.to_possible_value().filter(|_| *http != Http::default());
        flags.extend(version.map(|version| format!("--http {}", version.get_name())));
        flags.extend(options.rate.map(|rate| format!("--rate {rate}")));
        if options.read_only {
            flags.push("--read-only".into());
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Http, RunOptions, TargetConfig};

    #[test]
    fn each_setting_that_is_not_the_default_has_its_flag() {
        let url = "https://prompts.example/api/v1".parse().unwrap();
        let config = TargetConfig::new(url, "a-long-key");
        assert_eq!(config.flags(), [""; 0]);
        let options =
            RunOptions { time_scale: 2.5, read_only: true, keep: true, trace: true, rate: Some(9) };
        let timeout = Duration::from_secs(7);
        let config = TargetConfig { timeout, http: Http::Two, options, ..config };
        assert_eq!(
            config.flags(),
            ["--timeout 7", "--time-scale 2.5", "--http 2", "--rate 9", "--read-only"]
        );
    }
}
