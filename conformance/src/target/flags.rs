//! Renders the flags that are not at their defaults, so that a report can print the command that
//! repeats the run. Base URL and keys are added elsewhere.

use std::time::Duration;

use super::{Http, TargetConfig, TimeScale};
use crate::shell::quoted;

impl TargetConfig {
    /// How long one answer may take unless told otherwise, in seconds.
    pub const TIMEOUT_SECONDS: u16 = 30;

    /// Each with its value, ready for a shell.
    pub(crate) fn flags(&self) -> Vec<String> {
        let Self { timeout, http, authorities, options, .. } = self;
        let mut flags = Vec::new();
        if *timeout != Duration::from_secs(Self::TIMEOUT_SECONDS.into()) {
            flags.push(format!("--timeout {}", timeout.as_secs_f64().ceil()));
        }
        if options.time_scale != TimeScale::default() {
            flags.push(format!("--time-scale {}", options.time_scale));
        }
        if let Some(file) = authorities.file() {
            flags.push(format!("--cacert {}", quoted(&file.to_string_lossy())));
        }
        if *http != Http::default() {
            flags.push(format!("--http {http}"));
        }
        if options.read_only {
            flags.push("--read-only".into());
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Http, RunOptions, TargetConfig, TimeScale};

    fn config() -> TargetConfig {
        TargetConfig::new("https://prompts.example/api/v1".parse().unwrap(), "a-long-key")
    }

    #[test]
    fn what_is_usual_needs_no_flag() {
        assert_eq!(config().flags(), [""; 0]);
    }

    #[test]
    fn each_setting_has_its_flag() {
        let time_scale: TimeScale = "2.5".parse().unwrap();
        let options = RunOptions { time_scale, read_only: true, keep: true };
        let timeout = Duration::from_secs(7);
        let config = TargetConfig { timeout, http: Http::Two, options, ..config() };
        assert_eq!(config.flags(), ["--timeout 7", "--time-scale 2.5", "--http 2", "--read-only"]);
    }
}
