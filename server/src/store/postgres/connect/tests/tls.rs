//! TLS with a server that has a certificate of an authority of its own.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Cluster, ConnectError, asked, connect, halves};
use crate::clock::Clock;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};

const IS_ON: &str = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

/// A cluster that speaks TLS as `localhost`, with a certificate that `ca.crt` in its
/// folder vouches for; `other.crt` is an authority that it has nothing to do with.
struct Secured {
    cluster: Cluster,
    who: String,
    port: String,
}

fn openssl(folder: &Path, arguments: &str) {
    let words = arguments.split(' ');
    let output = Command::new("openssl").current_dir(folder).args(words).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

fn certify(folder: &Path) {
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for name in ["ca", "other"] {
        let subject = format!("-subj /CN={name} -days 9");
        openssl(folder, &format!("req -x509 {curve} -keyout {name}.key -out {name}.crt {subject}"));
    }
    openssl(folder, &format!("req {curve} -keyout server.key -out server.csr -subj /CN=localhost"));
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 9 -extfile names";
    openssl(folder, &format!("x509 -req -in server.csr {signed} -out server.crt"));
    let owner = std::fs::metadata(folder).unwrap();
    for name in ["server.key", "server.crt"] {
        let path = folder.join(name);
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }
}

impl Secured {
    async fn start() -> Self {
        let cluster = Cluster::start(&[]);
        certify(&cluster.data());
        let client = connect(cluster.url()).await.unwrap();
        client.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
        let (who, place) = halves(&cluster);
        let port = place.split([':', '/']).nth(1).unwrap().to_owned();
        let secured = Self { who: who.to_owned(), port, cluster };
        secured.reload("host all all 127.0.0.1/32 scram-sha-256").await;
        secured
    }

    /// Makes these the rules of who gets in, and waits until they and all settings hold.
    async fn reload(&self, rules: &str) {
        std::fs::write(self.cluster.data().join("pg_hba.conf"), format!("{rules}\n")).unwrap();
        let client = connect(self.cluster.url()).await.unwrap();
        let loaded = asked(&client, "SELECT pg_conf_load_time()::text").await;
        client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        while asked(&client, "SELECT pg_conf_load_time()::text").await == loaded {
            tokio::task::yield_now().await;
        }
    }

    fn url(&self, host: &str, query: &str) -> String {
        format!("{}@{host}:{}/postgres?{query}", self.who, self.port)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.cluster.data().join(name)
    }

    /// Whether connections have TLS under this query.
    async fn is_on(&self, host: &str, query: &str) -> bool {
        let client = connect(&self.url(host, query)).await.unwrap();
        asked(&client, IS_ON).await == "true"
    }

    async fn refused(&self, host: &str, query: &str) -> String {
        connect(&self.url(host, query)).await.unwrap_err().to_string()
    }
}

#[tokio::test]
async fn each_sslmode_asks_for_as_much_as_it_does_of_libpq() {
    let server = Secured::start().await;
    let [ca, other, own] = ["ca.crt", "other.crt", "server.crt"].map(|name| server.file(name));
    let [ca, other, own] = [ca.display(), other.display(), own.display()];
    for (host, query, on) in [
        ("127.0.0.1", "sslmode=disable".to_owned(), false),
        ("127.0.0.1", "sslmode=allow".to_owned(), false),
        ("127.0.0.1", "sslmode=prefer".to_owned(), true),
        ("127.0.0.1", String::new(), true),
        ("127.0.0.1", "sslmode=require".to_owned(), true),
        ("127.0.0.1", "sslmode=require&channel_binding=require".to_owned(), true),
        // Nobody asks whose certificate it is.
        ("127.0.0.1", format!("sslmode=prefer&sslrootcert={other}"), true),
        // Or what its name is.
        ("127.0.0.1", format!("sslmode=require&sslrootcert={ca}"), true),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={ca}"), true),
        ("localhost", format!("sslmode=verify-full&sslrootcert={ca}"), true),
        // A certificate may be known itself.
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={own}"), true),
        ("localhost", format!("sslmode=verify-full&sslrootcert={own}"), true),
    ] {
        assert_eq!(server.is_on(host, &query).await, on, "{host} {query}");
    }
    for (host, query, part) in [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ca}"), "not valid for name"),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={own}"), "not valid for name"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={other}"), "UnknownIssuer"),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={other}"), "UnknownIssuer"),
        ("localhost", format!("sslmode=require&sslrootcert={other}"), "UnknownIssuer"),
        ("localhost", "sslmode=verify-full".to_owned(), "UnknownIssuer"),
        ("localhost", "sslrootcert=system".to_owned(), "UnknownIssuer"),
    ] {
        let told = server.refused(host, &query).await;
        assert!(told.contains(part), "{host} {query}: {told}");
    }
}

#[tokio::test]
async fn where_the_server_decides_about_tls_allow_and_prefer_do_as_it_wants() {
    let server = Secured::start().await;
    // Only what was open before gets in where the rules leave out TLS or its lack.
    server.reload("hostssl all all 127.0.0.1/32 scram-sha-256").await;
    assert!(server.is_on("127.0.0.1", "sslmode=allow").await);
    let told = server.refused("127.0.0.1", "sslmode=disable").await;
    assert!(told.contains("no encryption"), "{told}");
    server.reload("hostnossl all all 127.0.0.1/32 scram-sha-256").await;
    assert!(!server.is_on("127.0.0.1", "sslmode=prefer").await);
    let told = server.refused("127.0.0.1", "sslmode=require").await;
    assert!(told.contains("SSL encryption"), "{told}");
}

#[tokio::test]
async fn a_client_may_prove_itself_by_a_certificate() {
    let server = Secured::start().await;
    let data = server.cluster.data();
    openssl(&data, "req -newkey rsa:2048 -nodes -keyout me.key -out me.csr -subj /CN=postgres");
    openssl(
        &data,
        "x509 -req -in me.csr -CA ca.crt -CAkey ca.key -days 9 -extfile names -out me.crt",
    );
    let owner = std::fs::metadata(&data).unwrap();
    chown(data.join("ca.crt"), Some(owner.uid()), Some(owner.gid())).unwrap();
    let client = connect(server.cluster.url()).await.unwrap();
    client.batch_execute("ALTER SYSTEM SET ssl_ca_file = 'ca.crt'").await.unwrap();
    server.reload("hostssl all all 127.0.0.1/32 cert").await;
    let [certificate, key] = ["me.crt", "me.key"].map(|name| data.join(name));
    let (certificate, key) = (certificate.display(), key.display());
    assert!(server.is_on("127.0.0.1", &format!("sslcert={certificate}&sslkey={key}")).await);
    let told = server.refused("127.0.0.1", "sslmode=require").await;
    assert!(told.contains("certificate"), "{told}");
}

#[tokio::test]
async fn a_file_that_is_no_certificate_is_named() {
    for (query, part) in [
        ("sslmode=verify-ca&sslrootcert=/nowhere/ca.crt", "sslrootcert: /nowhere/ca.crt: "),
        ("sslmode=verify-ca&sslrootcert=/dev/null", "it has no certificate in PEM form"),
        ("sslcert=/dev/null&sslkey=/dev/null", "sslcert: /dev/null: "),
    ] {
        let url = DatabaseUrl::parse(&format!("postgres://h/d?{query}")).unwrap();
        let error = PostgresStore::open(&url, Migration::Off, Clock::System).await.unwrap_err();
        assert!(matches!(error, ConnectError::Security(_)), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
}
