//! Several servers of one host, and a server that is opened at another address than its own.

use std::collections::BTreeMap;

use promptarium_server::EmbeddedServer;
use serde_json::json;

use crate::support::browser::{FORM, OWN, code, request, send, sign_in_request};
use crate::support::client::{Connection, Response};
use crate::support::program::Running;

/// The cookies of a browser, which sends all of a host to all of its ports.
#[derive(Default)]
struct Jar(BTreeMap<String, String>);

impl Jar {
    fn header(&self) -> String {
        let pairs: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("cookie: {}\r\n", pairs.join("; "))
    }

    fn keep(&mut self, response: &Response) {
        for (_, set) in response.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            match value {
                "" => self.0.remove(name),
                value => self.0.insert(name.to_owned(), value.to_owned()),
            };
        }
    }

    async fn sign_in(&mut self, server: &EmbeddedServer) {
        let sent = sign_in_request(&code(server).await, &self.header());
        let response = send(server, sent).await;
        assert_eq!(response.status, 303);
        self.keep(&response);
    }

    async fn sign_out(&mut self, server: &EmbeddedServer) {
        let headers = format!("{OWN}{}", self.header());
        self.keep(&send(server, request("POST", "/sign-out", &headers, "")).await);
    }

    async fn statuses<const N: usize>(&self, servers: [&EmbeddedServer; N]) -> [u16; N] {
        let mut statuses = [0; N];
        for (status, server) in statuses.iter_mut().zip(servers) {
            *status = send(server, request("GET", "/", &self.header(), "")).await.status;
        }
        statuses
    }
}

#[tokio::test]
async fn servers_of_one_host_sign_nobody_out_of_each_other() {
    let servers = [(); 2].map(async |()| EmbeddedServer::start().await.unwrap());
    let [one, other] = &futures::future::join_all(servers).await[..] else { unreachable!() };
    let mut jar = Jar::default();
    jar.sign_in(one).await;
    jar.sign_in(other).await;
    assert_eq!(jar.statuses([one, other]).await, [200, 200]);
    jar.sign_out(other).await;
    assert_eq!(jar.statuses([one, other]).await, [200, 303]);
    jar.sign_in(other).await;
    jar.sign_out(one).await;
    assert_eq!(jar.statuses([one, other]).await, [303, 200]);
    assert_eq!(jar.0.len(), 1, "{:?}", jar.0);
}

#[tokio::test]
async fn a_client_that_knows_one_cookie_is_signed_in() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut jar = Jar::default();
    jar.sign_in(&server).await;
    let port = server.local_addr().port();
    assert!(jar.0.contains_key(&format!("promptarium_session_{port}")), "{:?}", jar.0);
    jar.0.retain(|name, _| name == "promptarium_session");
    assert_eq!((jar.0.len(), jar.statuses([&server]).await), (1, [200]));
}

#[tokio::test]
async fn opened_at_another_address_the_page_and_the_log_name_both_and_the_flag() {
    let mut server = Running::start(&["--log-format", "json"]).await;
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
