//! One of the servers that an address names, and getting into it.

use std::fmt;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::address::AddressError;

/// A server.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) config: Config,
    /// For all of getting in.
    pub(super) limit: Option<Duration>,
    /// Such as `db1.example.com:5432`.
    name: String,
    /// TLS is for networks.
    pub(super) local: bool,
}

impl Server {
    /// All servers of a configuration, in their order.
    pub(super) fn all(config: &Config, limit: Duration) -> Result<Vec<Self>, AddressError> {
        let (hosts, ips) = (config.get_hosts(), config.get_hostaddrs());
        let number = hosts.len().max(ips.len());
        let even = |found: usize, what| {
            let fits = found <= 1 && what == "ports" || found == number || found == 0;
            if fits { Ok(()) } else { Err(AddressError::Uneven { hosts: number, found, what }) }
        };
        even(config.get_ports().len(), "ports")?;
        even(hosts.len(), "names")?;
        even(ips.len(), "addresses in hostaddr")?;
        if number == 0 || hosts.contains(&Host::Tcp(String::new())) {
            return Err(AddressError::NoHost);
        }
        let odd = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        if hosts.iter().any(odd) {
            return Err(AddressError::Unreadable("a host has an `@` in it".to_owned()));
        }
        Ok((0..number).map(|index| Self::one(config, index, limit)).collect())
    }

    fn one(config: &Config, index: usize, limit: Duration) -> Self {
        let ports = config.get_ports();
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let mut alone = without_hosts(config);
        alone.port(port);
        let ip = config.get_hostaddrs().get(index);
        if let Some(ip) = ip {
            alone.hostaddr(*ip);
        }
        let (name, local) = match (config.get_hosts().get(index), ip) {
            (Some(Host::Tcp(host)), _) => (host.clone(), false),
            (Some(Host::Unix(folder)), _) => (folder.display().to_string(), true),
            (None, ip) => (ip.map(ToString::to_string).unwrap_or_default(), false),
        };
        // The driver takes what begins with a slash for a socket's folder.
        alone.host(&name);
        let limit = Some(limit).filter(|limit| !limit.is_zero());
        Self { config: alone, limit, name: format!("{name}:{port}"), local }
    }

    /// The configuration for one try of getting in.
    pub(super) fn with(&self, mode: SslMode) -> Config {
        let mut config = self.config.clone();
        config.ssl_mode(mode);
        config
    }
}

/// The driver's configurations can be given hosts, but none can be taken away.
fn without_hosts(all: &Config) -> Config {
    let mut config = Config::new();
    if let Some(user) = all.get_user() {
        config.user(user);
    }
    if let Some(password) = all.get_password() {
        config.password(password);
    }
    if let Some(name) = all.get_dbname() {
        config.dbname(name);
    }
    if let Some(options) = all.get_options().filter(|options| !options.is_empty()) {
        config.options(options);
    }
    if let Some(name) = all.get_application_name() {
        config.application_name(name);
    }
    if let Some(limit) = all.get_tcp_user_timeout().filter(|limit| !limit.is_zero()) {
        config.tcp_user_timeout(*limit);
    }
    if let Some(interval) = all.get_keepalives_interval() {
        config.keepalives_interval(interval);
    }
    if let Some(retries) = all.get_keepalives_retries() {
        config.keepalives_retries(retries);
    }
    config.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
    config.ssl_negotiation(all.get_ssl_negotiation()).channel_binding(all.get_channel_binding());
    config.target_session_attrs(all.get_target_session_attrs());
    config.load_balance_hosts(all.get_load_balance_hosts());
    config
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
