//! The address of a database: `postgres://user:password@host:port/name?parameter=value`.
//!
//! The driver parses it. This module handles the parameters that the driver lacks or reads
//! otherwise than libpq, and makes one configuration for each host.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls;
use crate::error_chain::error_chain;
use crate::limits::{
    CONNECT_TIMEOUT, DATABASE_CONNECTIONS, DATABASE_CONNECTIONS_MIN, STATEMENT_TIMEOUT,
};
use crate::store::Cause;

const ENCODING: &str = "; in a user or a password, `/`, `?`, `@`, `:` and `%` are written `%2F`, `%3F`, `%40`, `%3A`, `%25`";

/// The address of a database. `Debug` shows its hosts only.
#[derive(Clone)]
pub struct DatabaseUrl {
    /// Each with its name.
    pub(super) hosts: Vec<(String, Config)>,
    pub(super) tls: MakeRustlsConnect,
    pub(crate) connections: usize,
    /// Zero is no limit.
    pub(super) statement_timeout: Duration,
    /// SQL for the start of each session: poolers refuse startup parameters. Citus must know the
    /// account to plan a statement.
    pub(super) session: String,
}

impl DatabaseUrl {
    /// Parses an address, and reads the certificates that it names. No error quotes a password.
    pub fn parse(text: &str) -> Result<Self, Cause> {
        let rest = text.strip_prefix("postgres://").or(text.strip_prefix("postgresql://"));
        let rest = rest.ok_or("it must begin with postgres:// or postgresql://")?;
        // As in libpq, credentials end at the first `@` unless a `/` comes before it.
        let at = rest.find(['@', '/']).filter(|at| rest.as_bytes()[*at] == b'@');
        let (credentials, rest) = rest.split_at(at.map_or(0, |at| at + 1));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));

        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let mut left = BTreeMap::from_iter(pairs);
        let mut number = |name| {
            let number = left.remove(name).map(str::parse::<u32>).transpose();
            number.map_err(|_| format!("its parameter {name} must be a whole number, not below 0"))
        };
        let millis = |number: u32| Duration::from_millis(number.into());
        let connections = number("pool_max_conns")?.map_or(DATABASE_CONNECTIONS, |n| n as usize);
        if connections < DATABASE_CONNECTIONS_MIN {
            Err(format!(
                "its parameter pool_max_conns must be {DATABASE_CONNECTIONS_MIN} or more"
            ))?;
        }
        let statement_timeout = number("statement_timeout")?.map_or(STATEMENT_TIMEOUT, millis);
        let tcp_user_timeout = number("tcp_user_timeout")?.map_or(Duration::from_secs(10), millis);
        let root = left.remove("sslrootcert").unwrap_or_default();
        let root = percent_decode_str(root).decode_utf8_lossy();
        let mode = if root == "system" { "verify-full" } else { "prefer" };
        let mode = *left.entry("sslmode").or_insert(mode);
        // The binding is to a key that the server must hold.
        let is_bound = mode == "prefer" && left.get("channel_binding") == Some(&"require");
        let tls = tls::connector(if is_bound { "require" } else { mode }, &root)?;
        let host_parameter = left.get("host").or(left.get("hostaddr")).copied().unwrap_or_default();
        let parameters = driver_parameters(left)?;

        let mut configs = Vec::new();
        for host in hosts.split(',') {
            // The driver would take a later `@` for the end of credentials, and might show a
            // password.
            let tail = format!("{host}/{database}?{parameters}").replace('@', "%40");
            let config = format!("postgres://{credentials}{tail}").parse::<Config>();
            let mut config = config.map_err(|error| error_chain(&error) + ENCODING)?;
            let name = if host.is_empty() { host_parameter } else { host };
            let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
            let is_name = !name.is_empty() && !name.starts_with(':') && !name.contains('@');
            if !is_name || config.get_hosts().len() > 1 {
                // Without the host, since it may be part of a password.
                Err("it must name its hosts, without an `@`, before the `/` or in one parameter \
                     `host`")?;
            }
            if matches!(config.get_hosts(), [Host::Unix(_)]) {
                config.ssl_mode(SslMode::Disable);
            }
            config.tcp_user_timeout(tcp_user_timeout);
            configs.push((name, config));
        }
        let session = format!(
            "SET default_transaction_isolation = 'read committed'; SET jit = off; \
             SET statement_timeout = {}; SET idle_in_transaction_session_timeout = '60s'; \
             SELECT set_config('plan_cache_mode', CASE WHEN EXISTS (SELECT FROM pg_extension \
             WHERE extname = 'citus') THEN 'force_custom_plan' ELSE 'force_generic_plan' END, false)",
            statement_timeout.as_millis(),
        );
        Ok(Self { hosts: configs, tls, connections, statement_timeout, session })
    }
}

/// Our defaults, and then these parameters: the driver takes the last value of each.
fn driver_parameters(parameters: BTreeMap<&str, &str>) -> Result<String, &'static str> {
    let mut text = format!(
        "application_name=promptarium-server&target_session_attrs=read-write\
         &connect_timeout={}&keepalives_idle=15&keepalives_interval=5&keepalives_retries=3",
        CONNECT_TIMEOUT.as_secs(),
    );
    for parameter in parameters {
        let (name, value) = match parameter {
            // The default, one that this driver lacks, and one that a pooler would refuse.
            ("target_session_attrs", "read-write" | "primary")
            | ("gssencmode", _)
            | ("options", "") => continue,
            ("target_session_attrs", value) if value != "any" => {
                Err("its parameter target_session_attrs must be read-write, primary or any, \
                     because the service writes")?
            }
            // With one host at a time it would mean something else.
            ("load_balance_hosts", _) => Err("its parameter load_balance_hosts is not supported")?,
            ("sslmode", "verify-full") => ("sslmode", "require"),
            ("keepalives_count", count) => ("keepalives_retries", count),
            other => other,
        };
        text += &format!("&{name}={value}");
    }
    Ok(text)
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
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(10)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(15));
        assert_eq!(config.get_keepalives_retries(), Some(3));
        assert_eq!(config.get_application_name(), Some("promptarium-server"));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!((url.connections, url.statement_timeout), (16, Duration::from_secs(5)));
        // PgBouncer refuses them as startup parameters.
        assert_eq!(config.get_options(), None);

        let url = parse(
            "postgresql://h/d?connect_timeout=5&tcp_user_timeout=2500&keepalives_idle=7\
             &keepalives_count=9&application_name=a%20b@c&target_session_attrs=any\
             &pool_max_conns=3&statement_timeout=1000&options=-csearch_path%3Dx\
             &gssencmode=disable",
        );
        let config = &url.hosts[0].1;
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(5)));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_millis(2500)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(config.get_keepalives_retries(), Some(9));
        assert_eq!(config.get_application_name(), Some("a b@c"));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(config.get_options(), Some("-csearch_path=x"));
        assert_eq!((url.connections, url.statement_timeout), (3, Duration::from_secs(1)));
        assert!(url.session.contains("statement_timeout = 1000;"));
    }

    #[test]
    fn each_host_has_a_configuration_of_its_own() {
        for (text, expected) in [
            ("postgres://u:p@a,b:6,[::1]:7/d", &["a", "b:6", "[::1]:7"][..]),
            ("postgres:///d?host=/run/pg", &["/run/pg"]),
            ("postgres:///d?hostaddr=10.0.0.1&port=9", &["10.0.0.1"]),
            ("postgres://%2Frun%2Fpg/d", &["/run/pg"]),
        ] {
            let url = parse(text);
            let names: Vec<_> = url.hosts.iter().map(|(name, _)| name).collect();
            assert_eq!(names, expected, "{text}");
            let is_socket = names[0].starts_with('/');
            let mode = if is_socket { SslMode::Disable } else { SslMode::Prefer };
            assert_eq!(url.hosts[0].1.get_ssl_mode(), mode, "{text}");
        }
        let config = &parse("postgres://a%40b:p%2F%40?:c@h/d").hosts[0].1;
        assert_eq!(config.get_user(), Some("a@b"));
        assert_eq!(config.get_password(), Some(&b"p/@?:c"[..]));
        assert_eq!(config.get_dbname(), Some("d"));
    }

    #[test]
    fn errors_name_the_fault_in_one_line() {
        for (text, part) in [
            ("mysql://h/d", "postgres://"),
            ("host=h dbname=d", "postgres://"),
            ("postgres:///d", "must name its hosts"),
            ("postgres://:5/d", "must name its hosts"),
            ("postgres://h:x/d", "`port`"),
            ("postgres://a/d?host=b", "before the `/`"),
            ("postgres://h/d?sslmode=allow", "sslmode must be disable, prefer"),
            ("postgres://h/d?sslmode=verify-ca", "sslmode must be disable, prefer"),
            ("postgres://h/d?sslmode=require&sslrootcert=x", "needs sslmode=verify-full"),
            ("postgres://h/d?sslcert=x&sslkey=y", "unknown option `sslcert`"),
            ("postgres://h/d?load_balance_hosts=random", "load_balance_hosts is not supported"),
            ("postgres://h/d?sslmode=verify-full&sslrootcert=/nowhere", "sslrootcert: /nowhere: "),
            ("postgres://h/d?sslmode=verify-full&sslrootcert=/dev/null", "has no certificate"),
            ("postgres://h/d?target_session_attrs=standby", "because the service writes"),
            ("postgres://h/d?statement_timeout=-1", "statement_timeout must be a whole number"),
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
        assert_eq!(format!("{url:?}"), r#"["h"]"#);
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
