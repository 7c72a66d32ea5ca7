//! The flags of a command that has this target, as far as they are not the usual
//! ones: what a report needs to say how the same is had again. Where the target is,
//! and its keys, are for others to tell.

use std::time::Duration;

use super::{Http, TargetConfig, TimeScale};
use crate::shell::quoted;

impl TargetConfig {
    /// How long one answer may take unless told otherwise, in seconds.
    pub const PATIENCE_SECONDS: u16 = 30;

    /// Each with its value, ready for a shell.
    pub(crate) fn flags(&self) -> Vec<String> {
        let Self { patience, http, authorities, manners, .. } = self;
        let mut flags = Vec::new();
        if *patience != Duration::from_secs(Self::PATIENCE_SECONDS.into()) {
            flags.push(format!("--patience {}", patience.as_secs_f64().ceil()));
        }
        if manners.time_scale != TimeScale::default() {
            flags.push(format!("--time-scale {}", manners.time_scale));
        }
        if let Some(file) = authorities.file() {
            flags.push(format!("--ca {}", quoted(&file.to_string_lossy())));
        }
        if *http != Http::default() {
            flags.push(format!("--http {http}"));
        }
        if manners.read_only {
            flags.push("--read-only".into());
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Http, Manners, TargetConfig, TimeScale};

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
        let manners = Manners { time_scale, read_only: true, keep: true };
        let patience = Duration::from_secs(7);
        let config = TargetConfig { patience, http: Http::Two, manners, ..config() };
        assert_eq!(config.flags(), ["--patience 7", "--time-scale 2.5", "--http 2", "--read-only"]);
    }
}
