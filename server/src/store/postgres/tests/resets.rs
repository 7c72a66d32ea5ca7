//! A network that resets all connections to the database again and again.

use std::net::SocketAddr;
use std::time::Duration;

use futures::future::join_all;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{interval, sleep};

use super::{ScratchDatabase, caller, store_in};
use crate::clock::Clock;
use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};
use crate::store::prelude::*;

const INTERVAL: Duration = Duration::from_millis(300);

/// A proxy in front of `database` that resets all its connections at each change of `reset`.
async fn proxy(database: String, reset: watch::Receiver<()>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let (database, mut reset) = (database.clone(), reset.clone());
            reset.mark_unchanged();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(database).await.unwrap();
                tokio::select! {
                    _ = copy_bidirectional(&mut client, &mut server) => {}
                    _ = reset.changed() => {}
                }
                // What is closed now is reset, and not ended.
                let _ = client.set_zero_linger();
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn no_read_fails_although_all_connections_are_reset_three_times_a_second() {
    let database = ScratchDatabase::create().await.unwrap();
    let alice = caller(&store_in(&database, Clock::System).await, "alice").await;
    let url = database.url();
    let (credentials, rest) = url.split_once('@').unwrap();
    let (server, name) = rest.split_once('/').unwrap();
    let (reset, resets) = watch::channel(());
    let proxy = proxy(server.to_owned(), resets).await;
    let url = DatabaseUrl::parse(&format!("{credentials}@{proxy}/{name}")).unwrap();
    let store = PostgresStore::open(&url, Migration::Auto, Clock::System).await.unwrap();
    let resetting = tokio::spawn(async move {
        let mut ticks = interval(INTERVAL);
        loop {
            ticks.tick().await;
            reset.send_replace(());
        }
    });
    let readers = (0..8).map(|_| {
        let (store, alice) = (store.clone(), alice.clone());
        tokio::spawn(async move {
            let mut failures = Vec::new();
            for _ in 0..50 {
                failures.extend(store.vaults(&alice).await.err());
                sleep(INTERVAL / 6).await;
            }
            failures
        })
    });
    let failures: Vec<_> = join_all(readers).await.into_iter().flat_map(Result::unwrap).collect();
    resetting.abort();
    assert!(failures.is_empty(), "{} of 400 reads failed: {failures:?}", failures.len());
}
