//! How a run behaves towards its target: how patient it is, whether it may
//! write, whether it takes away what it made.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use http::Method;

use crate::Failure;

/// How a run behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// What every wait is multiplied with.
    pub time_scale: TimeScale,
    /// Nothing but `GET` and `HEAD` is sent.
    pub read_only: bool,
    /// What was made stays where it is.
    pub keep: bool,
}

impl RunOptions {
    /// Whether a request of this method may be sent. Whatever sends asks here.
    ///
    /// # Errors
    /// A fault of the suite, in a run that may only read.
    pub fn allow(&self, method: &Method) -> Result<(), Failure> {
        if self.read_only && !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Failure::error(
                "a scenario that only reads",
                format!("it wanted to send {method}, which was not sent"),
            ));
        }
        Ok(())
    }
}

/// A factor for every wait, from 0.1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct TimeScale(f64);

impl TimeScale {
    /// The time with this factor.
    pub fn scale(self, time: Duration) -> Duration {
        time.mul_f64(self.0)
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }
}

impl Default for TimeScale {
    fn default() -> Self {
        Self(1.0)
    }
}

impl FromStr for TimeScale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(factor) if (0.1..=1000.0).contains(&factor) => Ok(Self(factor)),
            _ => Err("expected a number from 0.1 to 1000, such as 2.5".into()),
        }
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::Method;

    use super::{RunOptions, TimeScale};

    #[test]
    fn a_time_scale_is_a_decimal_within_reason() {
        let scale: TimeScale = "2.5".parse().unwrap();
        assert_eq!(scale.scale(Duration::from_secs(2)), Duration::from_secs(5));
        for text in ["0.1", "1", "1000"] {
            assert_eq!(text.parse::<TimeScale>().unwrap().to_string(), text);
        }
        for text in ["", "0", "0.09", "-1", "1001", "NaN", "inf", "fast", "2,5"] {
            assert!(text.parse::<TimeScale>().is_err(), "{text}");
        }
    }

    #[test]
    fn who_may_only_read_sends_nothing_that_writes() {
        let reader = RunOptions { read_only: true, ..RunOptions::default() };
        for method in [Method::GET, Method::HEAD] {
            assert!(reader.allow(&method).is_ok(), "{method}");
        }
        for name in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get"] {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            assert!(reader.allow(&method).is_err(), "{method}");
            assert!(RunOptions::default().allow(&method).is_ok(), "{method}");
        }
    }
}
