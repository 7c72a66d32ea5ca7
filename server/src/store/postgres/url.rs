//! The address of a database: `postgres://user:password@host:port/name?parameter=value`.
//!
//! The driver parses it. This module adds the parameters that the driver does not know, a
//! limit for everything that waits, and one configuration for each host, so that hosts can be
//! tried one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::tls::TlsMode;
use crate::limits::{
    CONNECT_TIMEOUT, DATABASE_CONNECTIONS, IDLE_IN_TRANSACTION_TIMEOUT, KEEPALIVE_IDLE,
    KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES, STATEMENT_TIMEOUT, TCP_USER_TIMEOUT,
};

/// Parameters of libpq that would change who is trusted or where to connect, and that this
/// program does not support.
const UNSUPPORTED: [&str; 5] = ["sslcert", "sslkey", "sslpassword", "sslcrl", "load_balance_hosts"];

/// The address of a database. `Debug` shows its hosts only.
#[derive(Clone)]
pub struct DatabaseUrl {
    /// Each with its name, such as `db1.example.com:5432`.
    pub(super) hosts: Vec<(String, Config)>,
    pub(super) tls: TlsMode,
    pub(super) connections: usize,
    /// For connecting to one host.
    pub(super) connect_timeout: Option<Duration>,
    /// No limit if zero.
    pub(super) statement_timeout: Duration,
    /// SQL that sets up each session.
    pub(super) session: String,
}

/// What is wrong with an address. It never quotes what may be a password.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is not the URL of a PostgreSQL database.
    #[error("it must begin with postgres:// or postgresql://")]
    Scheme,
    /// There is nowhere to connect to.
    #[error("it names no host")]
    NoHost,
    /// A parameter that is not supported, or whose value is wrong.
    #[error("its parameter {name} {problem}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// The driver cannot parse it.
    #[error(
        "{0}; in a user or a password, `/`, `?`, `@`, `:` and `%` are written `%2F`, `%3F`, \
         `%40`, `%3A` and `%25`"
    )]
    Unreadable(String),
}

/// The parameters after the `?`, still percent-encoded.
struct Params<'a>(BTreeMap<&'a str, &'a str>);

impl DatabaseUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// If it is not one, or has a parameter that is not supported.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let rest =
            ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let rest = rest.ok_or(AddressError::Scheme)?;
        // As in libpq, credentials end at the first `@` unless a `/` comes before it.
        let at = rest.find(['@', '/']).filter(|at| rest.as_bytes()[*at] == b'@');
        let (credentials, rest) = rest.split_at(at.map_or(0, |at| at + 1));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));

        let mut params = Params::parse(query)?;
        let tls = params.tls()?;
        let target = params.target_session_attrs()?;
        let connections = params.number("pool_max_conns")?.unwrap_or(DATABASE_CONNECTIONS as u64);
        let connect_timeout =
            params.number("connect_timeout")?.map_or(CONNECT_TIMEOUT, Duration::from_secs);
        let tcp_user_timeout = params.millis("tcp_user_timeout", TCP_USER_TIMEOUT)?;
        let statement_timeout = params.millis("statement_timeout", STATEMENT_TIMEOUT)?;
        let idle = "idle_in_transaction_session_timeout";
        let idle = params.millis(idle, IDLE_IN_TRANSACTION_TIMEOUT)?;

        let configs = hosts.split(',').map(|host| {
            // The driver would take a later `@` for the end of credentials, and might show a
            // part of a password as if it were a host.
            let tail = format!("{host}/{database}?{}", params.query()).replace('@', "%40");
            let mut config: Config =
                format!("postgres://{credentials}{tail}").parse().map_err(|e| unreadable(&e))?;
            let name = host_name(&config)?;
            config.target_session_attrs(target).tcp_user_timeout(tcp_user_timeout);
            let local = matches!(config.get_hosts(), [Host::Unix(_)]);
            config.ssl_mode(if local { SslMode::Disable } else { tls.ssl_mode() });
            params.set_defaults(&mut config);
            Ok((name, config))
        });
        Ok(Self {
            hosts: configs.collect::<Result<_, AddressError>>()?,
            tls,
            connections: usize::try_from(connections).unwrap_or(DATABASE_CONNECTIONS).max(1),
            connect_timeout: Some(connect_timeout).filter(|limit| !limit.is_zero()),
            statement_timeout,
            session: session(statement_timeout, idle),
        })
    }

    /// The same database with at most this many connections at once.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }
}

impl<'a> Params<'a> {
    fn parse(query: &'a str) -> Result<Self, AddressError> {
        let parts = query.split('&').filter(|part| !part.is_empty());
        let parts = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        let mut params: BTreeMap<_, _> = parts.collect();
        if let Some(name) = UNSUPPORTED.into_iter().find(|name| params.contains_key(name)) {
            return Err(AddressError::Parameter { name, problem: "is not supported" });
        }
        // It has no meaning for this driver, and is in many addresses.
        params.remove("gssencmode");
        if params.get("options").is_some_and(|options| options.is_empty()) {
            params.remove("options");
        }
        // libpq's name for what the driver calls retries.
        if let Some(count) = params.remove("keepalives_count") {
            params.insert("keepalives_retries", count);
        }
        Ok(Self(params))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let value = self.0.remove(name)?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }

    fn number(&mut self, name: &'static str) -> Result<Option<u64>, AddressError> {
        let problem = "must be a whole number, not below 0";
        let number = self.take(name).map(|value| value.parse());
        number.transpose().map_err(|_| AddressError::Parameter { name, problem })
    }

    fn millis(&mut self, name: &'static str, default: Duration) -> Result<Duration, AddressError> {
        Ok(self.number(name)?.map_or(default, Duration::from_millis))
    }

    fn tls(&mut self) -> Result<TlsMode, AddressError> {
        let root = self.take("sslrootcert").filter(|root| !root.is_empty());
        let mode = self.take("sslmode");
        let mode = match (mode.as_deref(), root.as_deref()) {
            (Some("verify-full"), Some("system") | None) | (None, Some("system")) => {
                TlsMode::VerifyFull(None)
            }
            (Some("verify-full"), Some(file)) => TlsMode::VerifyFull(Some(file.into())),
            (_, Some(_)) => {
                let problem = "needs sslmode=verify-full: no other mode checks certificates";
                return Err(AddressError::Parameter { name: "sslrootcert", problem });
            }
            (Some("disable"), None) => TlsMode::Disable,
            (Some("prefer") | None, None) => TlsMode::Prefer,
            (Some("require"), None) => TlsMode::Require,
            (Some(_), None) => {
                let problem = "must be disable, prefer, require or verify-full";
                return Err(AddressError::Parameter { name: "sslmode", problem });
            }
        };
        Ok(mode)
    }

    /// The service writes, so by default a session must be able to.
    fn target_session_attrs(&mut self) -> Result<TargetSessionAttrs, AddressError> {
        match self.take("target_session_attrs").as_deref() {
            Some("any") => Ok(TargetSessionAttrs::Any),
            None | Some("read-write" | "primary") => Ok(TargetSessionAttrs::ReadWrite),
            Some(_) => Err(AddressError::Parameter {
                name: "target_session_attrs",
                problem: "must be read-write, primary or any, because the service writes",
            }),
        }
    }

    /// What is left for the driver.
    fn query(&self) -> String {
        let pairs: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }

    fn set_defaults(&self, config: &mut Config) {
        if config.get_application_name().is_none() {
            config.application_name("promptarium-server");
        }
        if !self.0.contains_key("keepalives_idle") {
            config.keepalives_idle(KEEPALIVE_IDLE);
        }
        if !self.0.contains_key("keepalives_interval") {
            config.keepalives_interval(KEEPALIVE_INTERVAL);
        }
        if !self.0.contains_key("keepalives_retries") {
            config.keepalives_retries(KEEPALIVE_RETRIES);
        }
    }
}

fn host_name(config: &Config) -> Result<String, AddressError> {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let host = match (config.get_hosts(), config.get_hostaddrs()) {
        ([Host::Tcp(host)], _) if host.contains('@') => {
            return Err(AddressError::Unreadable("a host has an `@` in it".to_owned()));
        }
        ([Host::Tcp(host)], _) if !host.is_empty() => host.clone(),
        ([Host::Unix(folder)], _) => folder.display().to_string(),
        ([], [ip]) => ip.to_string(),
        ([] | [_], _) => return Err(AddressError::NoHost),
        _ => {
            let text = "hosts stand either before the `/` or in one parameter `host`";
            return Err(AddressError::Unreadable(text.to_owned()));
        }
    };
    Ok(format!("{host}:{port}"))
}

/// Sent after connecting, since poolers refuse these as startup parameters. Statements are
/// written for `read committed`, and compiling one takes longer than running it.
fn session(statement_timeout: Duration, idle: Duration) -> String {
    let (statement, idle) = (statement_timeout.as_millis(), idle.as_millis());
    format!(
        "SET default_transaction_isolation = 'read committed'; SET jit = off; \
         SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {idle}"
    )
}

fn unreadable(error: &tokio_postgres::Error) -> AddressError {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    AddressError::Unreadable(cause.unwrap_or_else(|| error.to_string()))
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.hosts.iter().map(|(name, _)| name).collect();
        f.debug_struct("DatabaseUrl").field("hosts", &hosts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> DatabaseUrl {
        DatabaseUrl::parse(text).unwrap()
    }

    #[test]
    fn everything_that_waits_has_a_limit() {
        let url = parse("postgres://a:b@h/d");
        let (name, config) = &url.hosts[0];
        assert_eq!(name, "h:5432");
        assert_eq!(url.connect_timeout, Some(Duration::from_secs(3)));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(10)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(15));
        assert_eq!(config.get_keepalives_retries(), Some(3));
        assert_eq!(config.get_application_name(), Some("promptarium-server"));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!((url.connections, url.statement_timeout), (16, Duration::from_secs(30)));
        // PgBouncer refuses them as startup parameters.
        assert_eq!(config.get_options(), None);
        for setting in ["isolation = 'read committed'", "jit = off", "statement_timeout = 30000"] {
            assert!(url.session.contains(setting), "{}", url.session);
        }
    }

    #[test]
    fn parameters_of_the_address_win() {
        let url = parse(
            "postgresql://h/d?connect_timeout=0&tcp_user_timeout=2500&keepalives_idle=7\
             &keepalives_count=9&application_name=a%20b@c&target_session_attrs=any\
             &pool_max_conns=3&statement_timeout=1000&options=-csearch_path%3Dx\
             &gssencmode=disable&idle_in_transaction_session_timeout=0",
        );
        let config = &url.hosts[0].1;
        assert_eq!(url.connect_timeout, None);
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_millis(2500)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(config.get_keepalives_retries(), Some(9));
        assert_eq!(config.get_application_name(), Some("a b@c"));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(config.get_options(), Some("-csearch_path=x"));
        assert_eq!((url.connections, url.statement_timeout), (3, Duration::from_secs(1)));
        assert!(
            url.session
                .ends_with("statement_timeout = 1000; SET idle_in_transaction_session_timeout = 0")
        );
        assert_eq!(parse("postgres://h/d?options=").hosts[0].1.get_options(), None);
    }

    #[test]
    fn each_host_has_a_configuration_of_its_own() {
        for (text, expected) in [
            ("postgres://u:p@a,b:6,[::1]:7/d", &["a:5432", "b:6", "::1:7"][..]),
            ("postgres:///d?host=/run/pg", &["/run/pg:5432"]),
            ("postgres:///d?hostaddr=10.0.0.1&port=9", &["10.0.0.1:9"]),
            ("postgres://%2Frun%2Fpg/d", &["/run/pg:5432"]),
        ] {
            let url = parse(text);
            let names: Vec<_> = url.hosts.iter().map(|(name, _)| name).collect();
            assert_eq!(names, expected, "{text}");
        }
        let config = &parse("postgres://a%40b:p%2F%40?:c@h/d").hosts[0].1;
        assert_eq!(config.get_user(), Some("a@b"));
        assert_eq!(config.get_password(), Some(&b"p/@?:c"[..]));
        assert_eq!(config.get_dbname(), Some("d"));
    }

    #[test]
    fn sslmode_sets_the_mode_except_over_a_unix_socket() {
        for (query, mode) in [
            ("", SslMode::Prefer),
            ("sslmode=disable", SslMode::Disable),
            ("sslmode=require", SslMode::Require),
            ("sslmode=verify-full", SslMode::Require),
            ("sslmode=verify-full&sslrootcert=/ca.crt", SslMode::Require),
            ("sslrootcert=system", SslMode::Require),
            ("host=/run/pg&sslmode=verify-full", SslMode::Disable),
        ] {
            let host = if query.starts_with("host") { "" } else { "h" };
            let url = parse(&format!("postgres://{host}/d?{query}"));
            assert_eq!(url.hosts[0].1.get_ssl_mode(), mode, "{query}");
        }
    }

    #[test]
    fn errors_name_the_fault_in_one_line() {
        for (text, part) in [
            ("mysql://h/d", "postgres://"),
            ("host=h dbname=d", "postgres://"),
            ("postgres:///d", "no host"),
            ("postgres://:5/d", "no host"),
            ("postgres://h:x/d", "`port`"),
            ("postgres://a/d?host=b", "before the `/`"),
            ("postgres://h/d?sslmode=on", "sslmode must be disable, prefer"),
            ("postgres://h/d?sslmode=allow", "sslmode must be disable, prefer"),
            ("postgres://h/d?sslmode=verify-ca", "sslmode must be disable, prefer"),
            (
                "postgres://h/d?sslmode=require&sslrootcert=x",
                "sslrootcert needs sslmode=verify-full",
            ),
            ("postgres://h/d?sslcert=x&sslkey=y", "sslcert is not supported"),
            ("postgres://h/d?target_session_attrs=standby", "because the service writes"),
            ("postgres://h/d?connect_timeout=-1", "connect_timeout must be a whole number"),
            ("postgres://h/d?colour=red", "unknown option `colour`"),
        ] {
            let error = DatabaseUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = parse("postgres://u:hunter2@h/d?password=hunter2");
        assert!(!format!("{url:?}").contains("unter"));
        for text in [
            "postgres://u:pa/hunter2@h/d",
            "postgres://u:p@hunter2@h/d",
            "postgres://u:hunter2@h:x/d",
            "postgres://u:hunter2@h/d?colour=red",
            "postgres://u:hunter2@/d",
            "hunter2",
            "postgres://u:hunter2%zz@h/d?port=hunter2",
        ] {
            let error = DatabaseUrl::parse(text).unwrap_err().to_string();
            assert!(!error.contains("unter"), "{text}: {error}");
        }
    }
}
