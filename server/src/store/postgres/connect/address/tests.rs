use std::time::Duration;

use tokio_postgres::config::SslMode::{Disable, Prefer, Require};
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use super::DatabaseUrl;

fn read(text: &str) -> DatabaseUrl {
    DatabaseUrl::parse(text).unwrap()
}

fn refused(text: &str) -> String {
    DatabaseUrl::parse(text).unwrap_err().to_string()
}

fn servers(text: &str) -> Vec<String> {
    read(text).servers.iter().map(ToString::to_string).collect()
}

#[test]
fn everything_that_waits_has_an_end_unless_the_address_says_otherwise() {
    let url = read("postgres://a:b@h/d");
    let server = &url.servers[0];
    assert_eq!(server.limit, Some(Duration::from_secs(3)));
    assert_eq!(server.config.get_tcp_user_timeout(), Some(&Duration::from_secs(10)));
    assert_eq!(server.config.get_keepalives_idle(), Duration::from_secs(15));
    assert_eq!(server.config.get_keepalives_retries(), Some(3));
    assert_eq!(server.config.get_application_name(), Some("promptarium-server"));
    assert_eq!(server.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    assert_eq!(
        server.config.get_options().unwrap(),
        "-c default_transaction_isolation=read\\ committed -c jit=off \
         -c statement_timeout=30000 \
         -c idle_in_transaction_session_timeout=60000"
    );
    assert_eq!((url.connections, url.statement_timeout), (16, Duration::from_secs(30)));
}

#[test]
fn what_the_address_says_wins() {
    let url = read(
        "postgresql://h/d?connect_timeout=0&tcp_user_timeout=2500&keepalives_idle=7\
         &keepalives_count=9&application_name=a%20b&target_session_attrs=any&pool_max_conns=3\
         &statement_timeout=1000&idle_in_transaction_session_timeout=0&options=-csearch_path%3Dx\
         &gssencmode=disable",
    );
    let server = &url.servers[0];
    assert_eq!(server.limit, None);
    assert_eq!(server.config.get_tcp_user_timeout(), Some(&Duration::from_millis(2500)));
    assert_eq!(server.config.get_keepalives_idle(), Duration::from_secs(7));
    assert_eq!(server.config.get_keepalives_retries(), Some(9));
    assert_eq!(server.config.get_application_name(), Some("a b"));
    assert_eq!(server.config.get_target_session_attrs(), TargetSessionAttrs::Any);
    let options = server.config.get_options().unwrap();
    assert!(options.contains(" -c statement_timeout=1000 "), "{options}");
    assert!(options.ends_with("_timeout=0 -csearch_path=x"), "{options}");
    assert_eq!((url.connections, url.statement_timeout), (3, Duration::from_secs(1)));
    assert_eq!(read("postgres://h/d?options=").servers[0].config.get_options(), None);
}

#[test]
fn several_servers_are_read_wherever_they_are_named() {
    assert_eq!(servers("postgres://u:p@a,b:6,[::1]:7/d"), ["a:5432", "b:6", "::1:7"]);
    assert_eq!(servers("postgres:///d?host=a,b&port=5,6"), ["a:5", "b:6"]);
    assert_eq!(servers("postgres:///d?host=/run/pg"), ["/run/pg:5432"]);
    assert_eq!(servers("postgres:///d?hostaddr=10.0.0.1&port=9"), ["10.0.0.1:9"]);
    assert_eq!(servers("postgres://%2Frun%2Fpg/d"), ["/run/pg:5432"]);
}

#[test]
fn credentials_are_read_as_libpq_reads_them() {
    let url = read("postgres://a%40b:p%2F%40?:c@h/d?application_name=x@y");
    let config = &url.servers[0].config;
    assert_eq!(config.get_user(), Some("a@b"));
    assert_eq!(config.get_password(), Some(&b"p/@?:c"[..]));
    assert_eq!(config.get_dbname(), Some("d"));
    assert_eq!(config.get_application_name(), Some("x@y"));
}

#[test]
fn sslmode_means_what_it_means_to_libpq() {
    let tries = |query: &str| -> &'static [SslMode] {
        read(&format!("postgres://h/d?{query}")).security.tries(false)
    };
    assert_eq!(tries(""), [Prefer, Disable]);
    assert_eq!(tries("sslmode=disable"), [Disable]);
    assert_eq!(tries("sslmode=allow"), [Disable, Require]);
    assert_eq!(tries("sslmode=prefer"), [Prefer, Disable]);
    for always in ["sslmode=require", "sslmode=verify-full", "sslrootcert=system"] {
        assert_eq!(tries(always), [Require], "{always}");
    }
    let local = read("postgres:///d?host=/run/pg&sslmode=verify-full");
    assert_eq!(local.security.tries(local.servers[0].local), [Disable]);
}

#[test]
fn what_is_wrong_is_named() {
    for (text, part) in [
        ("mysql://h/d", "postgres://"),
        ("host=h dbname=d", "postgres://"),
        ("postgres:///d", "no host"),
        ("postgres://:5/d", "no host"),
        ("postgres://h:x/d", "`port`"),
        ("postgres:///d?host=a,b,c&port=5,6", "3 hosts, but 2 ports"),
        ("postgres:///d?host=a,b&hostaddr=1.1.1.1", "2 hosts, but 1 addresses"),
        ("postgres://h/d?sslmode=on", "sslmode must be disable, allow"),
        ("postgres://h/d?sslmode=verify-ca", "needs sslrootcert"),
        ("postgres://h/d?sslmode=require&sslrootcert=system", "needs sslmode=verify-full"),
        ("postgres://h/d?sslcert=x", "sslcert and sslkey"),
        ("postgres://h/d?target_session_attrs=standby", "because the service writes"),
        ("postgres://h/d?connect_timeout=-1", "connect_timeout must be a whole number"),
        ("postgres://h/d?colour=red", "unknown option `colour`"),
    ] {
        let told = refused(text);
        assert!(told.contains(part), "{text}: {told}");
        assert!(!told.contains('\n'), "{told}");
    }
}

#[test]
fn no_piece_of_a_password_is_shown() {
    assert!(!format!("{:?}", read("postgres://u:hunter2@h/d?password=hunter2")).contains("unter"));
    for text in [
        "postgres://u:pa/hunter2@h/d",
        "postgres://u:p@hunter2@h/d",
        "postgres://u:hunter2@h:x/d",
        "postgres://u:hunter2@h/d?colour=red",
        "postgres://u:hunter2@/d",
        "hunter2",
        "postgres://u:hunter2%zz@h/d?port=hunter2",
    ] {
        let told = refused(text);
        assert!(!told.contains("unter"), "{text}: {told}");
    }
}
