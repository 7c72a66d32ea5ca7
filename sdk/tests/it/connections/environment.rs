//! The certificate store and the proxies of the environment.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use promptarium::{Client, RetryPolicy};

use super::child::passes_in_child;
use crate::stub::KEY;

/// A server that answers every request with an empty list and sends its first line here.
fn listing() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            sender.send(lines.next().unwrap().unwrap()).unwrap();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let body = r#"{"data":[],"error":null}"#;
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    (address, received)
}

fn new(origin: impl Display) -> Result<Client, promptarium::Error> {
    let builder = Client::builder().base_url(format!("{origin}/api/v1")).api_key(KEY);
    builder.retry(RetryPolicy::never()).build()
}

/// Which of these hosts is asked for directly, with this `NO_PROXY`; none of them exists.
#[tokio::test]
async fn no_proxy_may_have_ports_ranges_and_wildcards_in_any_case() {
    let name = "connections::environment::no_proxy_may_have_ports_ranges_and_wildcards_in_any_case";
    let (proxy, _at_proxy) = listing();
    let list = "a.example:81, *.b.example .c.example,D.EXAMPLE,10.0.0.0/8,10.9.9.9:82,e.example";
    let variables = [("HTTP_PROXY", &*format!("http://{proxy}")), ("NO_PROXY", list)];
    if passes_in_child(name, &variables) {
        return;
    }
    let mut direct = Vec::new();
    for host in [
        "a.example:81",
        "a.example:82",
        "x.a.example:81",
        "xa.example:81",
        "x.b.example:8080",
        "y.x.c.example",
        "d.example",
        "x.e.example:9",
        "xe.example",
        "10.2.3.4:1",
        "11.2.3.4:1",
    ] {
        let client = new(format!("http://{host}")).unwrap();
        let list = client.vaults().list().timeout(std::time::Duration::from_secs(1));
        if list.await.is_err() {
            direct.push(host);
        }
    }
    let expected = ["a.example:81", "x.a.example:81", "x.b.example:8080", "y.x.c.example"];
    assert_eq!(direct, [&expected[..], &["d.example", "x.e.example:9", "10.2.3.4:1"]].concat());
}

/// A SOCKS proxy that answers as the host that is asked for.
fn socks() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut read = |length: usize| {
            let mut bytes = vec![0; length];
            stream.read_exact(&mut bytes).unwrap();
            bytes
        };
        let methods = read(2)[1];
        read(methods.into());
        stream.write_all(&[5, 0]).unwrap();
        let mut read = |length: usize| {
            let mut bytes = vec![0; length];
            stream.read_exact(&mut bytes).unwrap();
            bytes
        };
        let length = read(5)[4];
        assert_eq!(read(usize::from(length) + 2)[..], b"prompts.example\0\x50"[..]);
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let body = r#"{"data":[],"error":null}"#;
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    });
    address
}

#[tokio::test]
async fn a_socks_proxy_of_the_environment_is_used() {
    let name = "connections::environment::a_socks_proxy_of_the_environment_is_used";
    if !passes_in_child(name, &[("ALL_PROXY", &format!("socks5h://{}", socks()))]) {
        assert!(new("http://prompts.example").unwrap().vaults().list().await.unwrap().is_empty());
    }
}

#[cfg(all(target_os = "linux", feature = "rustls", not(feature = "native-tls")))]
#[tokio::test]
async fn without_a_certificate_store_only_https_fails() {
    let nowhere = [("SSL_CERT_FILE", "/nowhere/certs.pem"), ("SSL_CERT_DIR", "/nowhere")];
    let name = "connections::environment::without_a_certificate_store_only_https_fails";
    if passes_in_child(name, &nowhere) {
        return;
    }
    let (address, _received) = listing();
    let client = new(format!("http://{address}")).unwrap();
    assert!(client.vaults().list().await.unwrap().is_empty());
    let error = client.assets().download("https://cdn.example/a.png").await.unwrap_err();
    assert!(error.is_connect());
    let advice = "https needs a certificate store (No CA certificates were loaded from the \
                  system); install CA certificates, often the package ca-certificates, or set \
                  SSL_CERT_FILE";
    let expected = format!("GET {{url}}: cannot connect to https://cdn.example: {advice}");
    assert_eq!(error.to_string(), expected);
    let error = new("https://prompts.example").unwrap_err();
    assert!(error.is_config());
    assert_eq!(error.to_string(), format!("cannot set up the HTTP client: {advice}"));
}

#[tokio::test]
async fn the_proxies_of_the_environment_are_used_except_for_loopback() {
    let name =
        "connections::environment::the_proxies_of_the_environment_are_used_except_for_loopback";
    let (proxy, at_proxy) = listing();
    let url = format!("http://user:pass@{proxy}");
    if passes_in_child(name, &[("HTTP_PROXY", &url), ("HTTPS_PROXY", &url), ("ALL_PROXY", &url)]) {
        // The child has a listener of its own, for which it sends nothing.
        let first = at_proxy.try_recv().unwrap();
        assert_eq!(first, "GET http://prompts.example/api/v1/vaults HTTP/1.1");
        for _ in 0..2 {
            assert_eq!(at_proxy.try_recv().unwrap(), "GET http://cdn.example/a.png HTTP/1.1");
        }
        assert_eq!(at_proxy.try_recv().ok(), None);
        return;
    }
    assert!(new("http://prompts.example").unwrap().vaults().list().await.is_ok());
    let (server, at_server) = listing();
    for host in ["127.0.0.1", "localhost"] {
        let client = new(format!("http://{host}:{}", server.port())).unwrap();
        assert!(client.vaults().list().await.is_ok());
        assert_eq!(at_server.try_recv().unwrap(), "GET /api/v1/vaults HTTP/1.1");
        // The other hosts of a service on this machine are reached as any other.
        client.assets().download("http://cdn.example/a.png").await.unwrap();
    }
}
