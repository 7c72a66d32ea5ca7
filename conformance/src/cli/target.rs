//! The flags that say where the target is and how patient to be with it, the
//! same for every command that has one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{Authorities, Http, RunOptions, Target, TargetConfig, environment};
use clap::Args;

#[derive(Args)]
pub(super) struct TargetArguments {
    /// The API root, ending in /api/v1 [env: PROMPTARIUM_BASE_URL].
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Timeout of one response, in seconds.
    #[arg(long, default_value_t = TargetConfig::TIMEOUT_SECONDS,
          value_name = "SECONDS", value_parser = clap::value_parser!(u16).range(1..))]
    timeout: u16,
    /// Factor of all timeouts, from 0.1 to 1000.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = time_scale)]
    time_scale: f64,
    /// File with PEM certificates of further authorities to trust.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Speak this version of HTTP; 2 without TLS by prior knowledge.
    #[arg(long, default_value = "auto", value_name = "VERSION")]
    http: Http,
}

impl TargetArguments {
    /// How long one answer may take, before it is scaled.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }

    /// The target; the time scale is the flag's and not that of `options`.
    pub(super) fn target(&self, options: RunOptions) -> Result<Arc<Target>, String> {
        let variable = |name: &str| std::env::var(name).ok();
        let mut config = environment::target_config(self.base_url.as_deref(), variable)?;
        config.timeout = self.timeout();
        config.http = self.http;
        if let Some(file) = &self.cacert {
            config.authorities =
                Authorities::read(file).map_err(|reason| format!("--cacert: {reason}"))?;
        }
        config.options = RunOptions { time_scale: self.time_scale, ..options };
        let target = Target::new(config).map_err(|failure| failure.got)?;
        Ok(Arc::new(target))
    }
}

fn time_scale(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| (0.1..=1000.0).contains(factor));
    factor.ok_or_else(|| "expected a number from 0.1 to 1000, such as 2.5".into())
}
