//! The address of a database: `postgres://user:password@host:port/name?parameter=value`.
//!
//! The driver parses it. This module handles the parameters that the driver does not know or
//! reads differently from libpq, and makes one configuration for each host, so that hosts can
//! be tried one by one.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::tls::TlsMode;
use crate::limits::{
    CONNECT_TIMEOUT, DATABASE_CONNECTIONS, IDLE_IN_TRANSACTION_TIMEOUT, KEEPALIVE_IDLE,
    KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES, STATEMENT_TIMEOUT, TCP_USER_TIMEOUT,
};

/// The address of a database. `Debug` shows its hosts only.
#[derive(Clone)]
pub struct DatabaseUrl {
    /// Each with its name, such as `db1.example.com:5432`.
    pub(super) hosts: Vec<(String, Config)>,
    pub(super) tls: TlsMode,
    pub(super) connections: usize,
    /// For connecting to one host. Here and below, zero is no limit.
    pub(super) connect_timeout: Duration,
    pub(super) statement_timeout: Duration,
    idle_timeout: Duration,
    tcp_user_timeout: Duration,
}

/// What is wrong with an address. It never quotes what may be a password.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AddressError(String);

impl DatabaseUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// If it is not one, or has a parameter that is not supported.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let rest =
            ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let rest = rest.ok_or("it must begin with postgres:// or postgresql://")?;
        // As in libpq, credentials end at the first `@` unless a `/` comes before it.
        let at = rest.find(['@', '/']).filter(|at| rest.as_bytes()[*at] == b'@');
        let (credentials, rest) = rest.split_at(at.map_or(0, |at| at + 1));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));

        let mut url = Self {
            hosts: Vec::new(),
            tls: TlsMode::Prefer,
            connections: DATABASE_CONNECTIONS,
            connect_timeout: CONNECT_TIMEOUT,
            statement_timeout: STATEMENT_TIMEOUT,
            idle_timeout: IDLE_IN_TRANSACTION_TIMEOUT,
            tcp_user_timeout: TCP_USER_TIMEOUT,
        };
        let parameters = url.read_parameters(query)?;
        for host in hosts.split(',') {
            // The driver would take a later `@` for the end of credentials, and might show a
            // part of a password as if it were a host.
            let tail = format!("{host}/{database}?{parameters}").replace('@', "%40");
            let config = format!("postgres://{credentials}{tail}").parse::<Config>();
            let mut config = config.map_err(|error| unreadable(&error))?;
            let local = matches!(config.get_hosts(), [Host::Unix(_)]);
            config.ssl_mode(if local { SslMode::Disable } else { url.tls.ssl_mode() });
            config.tcp_user_timeout(url.tcp_user_timeout);
            url.hosts.push((host_name(&config)?, config));
        }
        Ok(url)
    }

    /// Reads the parameters that are not for the driver, and returns those that are.
    fn read_parameters(&mut self, query: &str) -> Result<String, AddressError> {
        // The driver takes the last value of each.
        let (idle, interval) = (KEEPALIVE_IDLE.as_secs(), KEEPALIVE_INTERVAL.as_secs());
        let mut driver = format!(
            "application_name=promptarium-server&target_session_attrs=read-write\
             &keepalives_idle={idle}&keepalives_interval={interval}\
             &keepalives_retries={KEEPALIVE_RETRIES}"
        );
        let (mut sslmode, mut sslrootcert) = (None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, raw) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(raw).decode_utf8_lossy();
            let fault = |problem: &str| AddressError(format!("its parameter {name} {problem}"));
            let number =
                || value.parse::<u32>().map_err(|_| fault("must be a whole number, not below 0"));
            let millis = || number().map(|number| Duration::from_millis(number.into()));
            match name {
                "sslmode" => sslmode = Some(value),
                "sslrootcert" => sslrootcert = Some(value),
                "pool_max_conns" => self.connections = number()?.max(1) as usize,
                "connect_timeout" => self.connect_timeout = Duration::from_secs(number()?.into()),
                "statement_timeout" => self.statement_timeout = millis()?,
                "idle_in_transaction_session_timeout" => self.idle_timeout = millis()?,
                "tcp_user_timeout" => self.tcp_user_timeout = millis()?,
                "target_session_attrs" if matches!(&*value, "read-write" | "primary") => {}
                "target_session_attrs" if value != "any" => {
                    let problem = "must be read-write, primary or any, because the service writes";
                    return Err(fault(problem));
                }
                // They would change who is trusted or where to connect.
                "sslcert" | "sslkey" | "sslpassword" | "sslcrl" | "load_balance_hosts" => {
                    return Err(fault("is not supported"));
                }
                // It has no meaning for this driver, and is in many addresses.
                "gssencmode" => {}
                "options" if value.is_empty() => {}
                // libpq's name for what the driver calls retries.
                "keepalives_count" => driver += &format!("&keepalives_retries={raw}"),
                _ => driver += &format!("&{pair}"),
            }
        }
        self.tls = TlsMode::parse(sslmode.as_deref(), sslrootcert.as_deref())?;
        Ok(driver)
    }

    /// The same database with at most this many connections at once.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// SQL that sets up each session. It is sent after connecting, since poolers refuse startup
    /// parameters. Statements are written for `read committed`, and compiling one takes longer
    /// than running it.
    pub(super) fn session(&self) -> String {
        let [statement, idle] = [self.statement_timeout, self.idle_timeout].map(|t| t.as_millis());
        format!(
            "SET default_transaction_isolation = 'read committed'; SET jit = off; \
             SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {idle}"
        )
    }
}

fn host_name(config: &Config) -> Result<String, AddressError> {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let host = match (config.get_hosts(), config.get_hostaddrs()) {
        // It may be part of a password.
        ([Host::Tcp(host)], _) if host.contains('@') => Err("a host has an `@` in it")?,
        ([Host::Tcp(host)], _) if !host.is_empty() => host.clone(),
        ([Host::Unix(folder)], _) => folder.display().to_string(),
        ([], [ip]) => ip.to_string(),
        ([] | [_], _) => Err("it names no host")?,
        _ => Err("hosts stand either before the `/` or in one parameter `host`")?,
    };
    Ok(format!("{host}:{port}"))
}

fn unreadable(error: &tokio_postgres::Error) -> AddressError {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let cause = cause.unwrap_or_else(|| error.to_string());
    AddressError(format!(
        "{cause}; in a user or a password, `/`, `?`, `@`, `:` and `%` are written `%2F`, `%3F`, \
         `%40`, `%3A` and `%25`"
    ))
}

impl From<&str> for AddressError {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.hosts.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::TargetSessionAttrs;

    use super::*;

    fn parse(text: &str) -> DatabaseUrl {
        DatabaseUrl::parse(text).unwrap()
    }

    #[test]
    fn everything_that_waits_has_a_limit_and_parameters_of_the_address_win() {
        let url = parse("postgres://a:b@h/d");
        let config = &url.hosts[0].1;
        assert_eq!(url.connect_timeout, Duration::from_secs(3));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(10)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(15));
        assert_eq!(config.get_keepalives_retries(), Some(3));
        assert_eq!(config.get_application_name(), Some("promptarium-server"));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!((url.connections, url.statement_timeout), (16, Duration::from_secs(30)));
        // PgBouncer refuses them as startup parameters.
        assert_eq!(config.get_options(), None);

        let url = parse(
            "postgresql://h/d?connect_timeout=0&tcp_user_timeout=2500&keepalives_idle=7\
             &keepalives_count=9&application_name=a%20b@c&target_session_attrs=any\
             &pool_max_conns=3&statement_timeout=1000&options=-csearch_path%3Dx\
             &gssencmode=disable&idle_in_transaction_session_timeout=0",
        );
        let config = &url.hosts[0].1;
        assert_eq!(url.connect_timeout, Duration::ZERO);
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_millis(2500)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(config.get_keepalives_retries(), Some(9));
        assert_eq!(config.get_application_name(), Some("a b@c"));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(config.get_options(), Some("-csearch_path=x"));
        assert_eq!((url.connections, url.statement_timeout), (3, Duration::from_secs(1)));
        assert!(url.session().ends_with("idle_in_transaction_session_timeout = 0"));
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
        for (text, mode) in [
            ("h/d", SslMode::Prefer),
            ("h/d?sslmode=disable", SslMode::Disable),
            ("h/d?sslmode=require", SslMode::Require),
            ("h/d?sslmode=verify-full&sslrootcert=/ca.crt", SslMode::Require),
            ("h/d?sslrootcert=system", SslMode::Require),
            ("/d?host=/run/pg&sslmode=verify-full", SslMode::Disable),
        ] {
            let url = parse(&format!("postgres://{text}"));
            assert_eq!(url.hosts[0].1.get_ssl_mode(), mode, "{text}");
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
            ("postgres://h/d?sslmode=allow", "sslmode must be disable, prefer"),
            ("postgres://h/d?sslmode=verify-ca", "sslmode must be disable, prefer"),
            ("postgres://h/d?sslmode=require&sslrootcert=x", "needs sslmode=verify-full"),
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
        assert_eq!(format!("{url:?}"), r#"["h:5432"]"#);
        for text in [
            "postgres://u:pa/hunter2@h/d",
            "postgres://u:p@hunter2@h/d",
            "postgres://u:hunter2@h:x/d",
            "postgres://u:hunter2@h/d?colour=red",
            "postgres://u:hunter2@/d",
            "hunter2",
            "postgres://u:hunter2%zz@h/d?port=hunter2",
            "postgres://u@h/d?pool_max_conns=hunter2&password=hunter2",
        ] {
            let error = DatabaseUrl::parse(text).unwrap_err().to_string();
            assert!(!error.contains("unter"), "{text}: {error}");
        }
    }
}
