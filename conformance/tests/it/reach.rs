//! The flags that say how a target is reached: `--cacert` and `--http`.

use std::path::PathBuf;

use promptarium_server::EmbeddedServer;

use crate::cli::{folder, program, stderr, stdout};
use crate::tls::{Proxy, Socket};

/// A server behind TLS, and the file of the authority that vouches for it.
struct Behind {
    server: EmbeddedServer,
    _proxy: Proxy,
    authority: PathBuf,
}

async fn behind_tls(name: &str) -> Behind {
    let socket = Socket::bind(&["h2", "http/1.1"]).await.unwrap();
    let authority = file(name, &socket.authority);
    let server = EmbeddedServer::builder().public_url(socket.url().unwrap()).start().await.unwrap();
    let _proxy = socket.forward_to(server.local_addr());
    Behind { server, _proxy, authority }
}

/// A file of this test's own.
fn file(name: &str, content: &str) -> PathBuf {
    let file = folder(&format!("reach-{name}")).join(name);
    std::fs::write(&file, content).unwrap();
    file
}

async fn run(server: &EmbeddedServer, arguments: &[&str]) -> (Option<i32>, String) {
    let variables =
        [("PROMPTARIUM_BASE_URL", server.base_url()), ("PROMPTARIUM_API_KEY", server.api_key())];
    let output = program(&[&["run"], arguments].concat(), &variables).await;
    (output.status.code(), stdout(&output) + &stderr(&output))
}

const ONE: [&str; 6] =
    ["--profile", "core", "--profile", "http", "envelope.requests.base-url", "raw.pace.ahead"];

#[tokio::test]
async fn an_authority_from_a_file_is_trusted_by_calls_and_sockets() {
    let Behind { server, authority, .. } = &behind_tls("trusted.pem").await;
    let trusted = ["--cacert", authority.to_str().unwrap()];
    for http in ["auto", "1.1"] {
        let (code, text) = run(server, &[&ONE, &trusted[..], &["--http", http]].concat()).await;
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("verdict: passed"), "{text}");
    }
    let (code, text) = run(server, &ONE).await;
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("cannot be reached") && text.contains("certificate"), "{text}");
}

#[tokio::test]
async fn a_wrong_file_of_authorities_is_one_line_that_names_the_flag() {
    let server = EmbeddedServer::start().await.unwrap();
    let none = file("none.pem", "no certificate");
    for wrong in ["/no/such/file.pem", none.to_str().unwrap()] {
        let (code, text) = run(&server, &["--cacert", wrong]).await;
        assert_eq!(code, Some(2), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("--cacert") && text.contains(wrong), "{text}");
    }
}

#[tokio::test]
async fn where_only_http_2_is_spoken_raw_requests_are_skipped_with_the_reason() {
    let server = EmbeddedServer::start().await.unwrap();
    let (code, text) = run(&server, &[&ONE, &["--http", "2"][..]].concat()).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("verdict: partial") && text.contains("--http 2"), "{text}");
    let (code, text) = run(&server, &["--http", "3"]).await;
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("auto, 1.1, 2"), "{text}");
}
