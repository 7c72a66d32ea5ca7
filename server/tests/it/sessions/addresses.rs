//! Several servers of one host, and a server that is opened at another address than its own.

use std::collections::BTreeMap;

use promptarium_server::EmbeddedServer;
use serde_json::json;

use crate::support::browser::{FORM, OWN, code, request, send};
use crate::support::client::Connection;
use crate::support::program::Running;

/// The cookies of a browser, which sends all of a host to all of its ports.
#[derive(Default)]
struct Jar(BTreeMap<String, String>);

impl Jar {
    /// Sends a request, and keeps the cookies of the response; gives its status.
    async fn send(&mut self, server: &EmbeddedServer, method: &str, path: &str, body: &str) -> u16 {
        let pairs: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let headers = format!("{FORM}{OWN}cookie: {}\r\n", pairs.join("; "));
        let response = send(server, request(method, path, &headers, body)).await;
        for (_, set) in response.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            match value {
                "" => self.0.remove(name),
                value => self.0.insert(name.to_owned(), value.to_owned()),
            };
        }
        response.status
    }

    async fn sign_in(&mut self, server: &EmbeddedServer) {
        let form = format!("code={}", code(server).await);
        assert_eq!(self.send(server, "POST", "/sign-in", &form).await, 303);
    }

    async fn status(&mut self, server: &EmbeddedServer) -> u16 {
        self.send(server, "GET", "/", "").await
    }
}

#[tokio::test]
async fn servers_of_one_host_sign_nobody_out_of_each_other() {
    let (one, other) =
        (EmbeddedServer::start().await.unwrap(), EmbeddedServer::start().await.unwrap());
    let mut jar = Jar::default();
    jar.sign_in(&one).await;
    jar.sign_in(&other).await;
    assert_eq!((jar.status(&one).await, jar.status(&other).await), (200, 200));
    jar.send(&other, "POST", "/sign-out", "").await;
    assert_eq!((jar.status(&one).await, jar.status(&other).await), (200, 303));
    jar.sign_in(&other).await;
    jar.send(&one, "POST", "/sign-out", "").await;
    assert_eq!((jar.status(&one).await, jar.status(&other).await), (303, 200));
    assert_eq!(jar.0.len(), 1, "{:?}", jar.0);
    // A client that knows the cookie without the port is signed in.
    jar.sign_in(&one).await;
    let port = one.local_addr().port();
    assert!(jar.0.contains_key(&format!("promptarium_session_{port}")), "{:?}", jar.0);
    jar.0.retain(|name, _| name == "promptarium_session");
    assert_eq!((jar.0.len(), jar.status(&one).await), (1, 200));
}

#[tokio::test]
async fn opened_at_another_address_the_page_and_the_log_name_both_and_the_flag() {
    let mut server = Running::start("--log-format json").await;
    let text = format!(
        "this page was opened at http://192.0.2.2:18140, but the address of this server is {}; \
         open it there, or start the server with `--public-url http://192.0.2.2:18140`",
        server.root()
    );
    let mut connection = Connection::to(&server).await;
    for (origin, host, parts) in [
        ("http://192.0.2.2:18140", "192.0.2.2:18140", &[&*text][..]),
        // What a client sends is not repeated unless it is an origin.
        ("http://<b>&amp;", "a&b'(c)", &[]),
    ] {
        let headers = format!("{FORM}origin: {origin}\r\n");
        let sent = request("POST", "/sign-in", &headers, "code=x");
        let refused = connection.ask(sent.replace("host: test", &format!("host: {host}"))).await;
        assert_eq!(refused.status, 403);
        assert!(parts.iter().all(|part| refused.body.contains(part)), "{}", refused.body);
        let is_repeated = ["<b>", "&amp;b", "(c)"].iter().any(|part| refused.body.contains(part));
        assert!(!is_repeated, "{}", refused.body);
    }
    let event = server.event("answered").await;
    assert_eq!((&event["status"], &event["cause"]), (&json!(403), &json!(text)));
}
