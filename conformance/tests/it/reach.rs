//! The flags that say how a target is reached: `--cacert` and `--http`.

use crate::prelude::*;
use crate::tls::{Proxy, Socket};

/// A server behind TLS, and the file of the authority that vouches for it.
struct Behind {
    server: EmbeddedServer,
    _proxy: Proxy,
    authority: String,
}

async fn behind_tls(name: &str) -> Behind {
    let socket = Socket::bind(&["h2", "http/1.1"]).await.unwrap();
    let authority = file(name, &socket.authority);
    let server = EmbeddedServer::builder().public_url(socket.url().unwrap()).start().await.unwrap();
    let _proxy = socket.forward_to(server.local_addr());
    Behind { server, _proxy, authority }
}

fn file(name: &str, content: &str) -> String {
    program::file(&format!("reach-{name}"), name, content)
}

async fn run(server: &EmbeddedServer, arguments: &[&str]) -> Ran {
    program::run(server.base_url(), server.api_key(), arguments).await
}

const ONE: [&str; 1] = ["answers.success.list-vaults"];

#[tokio::test]
async fn an_authority_from_a_file_is_trusted() {
    let Behind { server, authority, .. } = &behind_tls("trusted.pem").await;
    let trusted = ["--cacert", authority];
    for http in ["auto", "1.1"] {
        let ran = run(server, &[&ONE, &trusted[..], &["--http", http]].concat()).await;
        ran.ended(0, &["verdict: passed"]);
    }
    run(server, &ONE).await.ended(3, &["cannot be reached", "certificate"]);
}

#[tokio::test]
async fn a_wrong_file_of_authorities_is_one_line_that_names_the_flag() {
    let server = EmbeddedServer::start().await.unwrap();
    let pem = |kind: &str| format!("-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n");
    for (wrong, reason) in [
        ("/no/such/file.pem".to_owned(), "cannot be read"),
        (file("none.pem", "no certificate"), "no certificate"),
        (file("key.pem", &pem("PRIVATE KEY")), "no certificate"),
        (file("faulty.pem", &pem("CERTIFICATE")), "certificate 1 is faulty"),
        (file("open.pem", "-----BEGIN CERTIFICATE-----\n"), "no PEM file"),
    ] {
        let ran = run(&server, &["--cacert", &wrong]).await;
        ran.refused(2, "--cacert").ended(2, &[&wrong, reason]);
    }
}

#[tokio::test]
async fn where_only_http_2_is_spoken_a_run_needs_to_be_told() {
    let server = EmbeddedServer::start().await.unwrap();
    run(&server, &[&ONE, &["--http", "2"][..]].concat()).await.ended(0, &["verdict: passed"]);
    run(&server, &["--http", "3"]).await.ended(2, &["auto, 1.1, 2"]);
}
