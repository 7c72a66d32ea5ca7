//! One client in several Tokio runtimes, in runtimes that do not run, and in a forked process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use promptarium::{Client, RetryPolicy};
use tokio::runtime::{Builder, Runtime};

use crate::stub::KEY;

/// A server that closes a connection after this rest.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

fn server(keep_alive: Duration) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            counted.fetch_add(1, Ordering::SeqCst);
            stream.set_read_timeout(Some(keep_alive)).unwrap();
            thread::spawn(move || answer_all(stream));
        }
    });
    Server { address, connections }
}

fn answer_all(mut stream: TcpStream) {
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    loop {
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read(&mut part) {
                Ok(read) if read > 0 => request.extend_from_slice(&part[..read]),
                _ => return,
            }
        }
        request.clear();
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull";
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

const LONG: Duration = Duration::from_secs(60);

fn client(server: &Server) -> Client {
    let builder = Client::builder().base_url(format!("http://{}/api/v1", server.address));
    let builder = builder.api_key(KEY).retry(RetryPolicy::never());
    builder.idle_timeout(Duration::from_secs(10)).build().unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn post(client: &Client) -> Result<(), promptarium::Error> {
    client.post("/queue").await.map(drop)
}

#[test]
fn a_post_works_while_the_runtime_of_an_idle_connection_rests() {
    let server = server(LONG);
    let (client, first, second) = (client(&server), runtime(), runtime());
    first.block_on(post(&client)).unwrap();
    second.block_on(post(&client)).unwrap();
    first.block_on(post(&client)).unwrap();
    second.block_on(post(&client)).unwrap();
    assert_eq!(server.connections.load(Ordering::SeqCst), 2, "each keeps its connection");
}

#[test]
fn runtimes_that_come_and_go_share_a_client() {
    let server = server(LONG);
    let client = client(&server);
    let failed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let runtime = runtime();
                    for _ in 0..3 {
                        if runtime.block_on(post(&client)).is_err() {
                            failed.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(failed.into_inner(), 0, "of 480 POSTs");
}

#[test]
fn a_post_works_after_a_rest_in_which_the_server_closed_the_connection() {
    let server = server(Duration::from_secs(5));
    let (client, runtime) = (client(&server), runtime());
    runtime.block_on(post(&client)).unwrap();
    // The runtime does not run meanwhile, so it does not see the end of the connection.
    thread::sleep(Duration::from_millis(5500));
    runtime.block_on(post(&client)).unwrap();
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
}

#[cfg(unix)]
#[test]
fn a_blocking_call_works_in_a_forked_process() {
    if super::child::passes_in_child(
        "connections::runtimes::a_blocking_call_works_in_a_forked_process",
        &[],
    ) {
        return;
    }
    let server = server(LONG);
    let client = client(&server);
    let call = || client.post("/queue").timeout(Duration::from_secs(5)).send_blocking();
    call().unwrap();
    match fork::fork().unwrap() {
        fork::Fork::Child => {
            // A call that hangs must not outlive the test.
            thread::spawn(|| {
                thread::sleep(Duration::from_secs(20));
                std::process::exit(2);
            });
            std::process::exit(i32::from(call().is_err()));
        }
        fork::Fork::Parent(process) => {
            let status = fork::waitpid(process).unwrap();
            assert_eq!(status, 0, "the call of the child works");
        }
    }
    call().unwrap();
}
