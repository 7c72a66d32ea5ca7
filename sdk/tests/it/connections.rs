//! The connections of the client's own HTTP client, and transports in its place.

mod bodies;
pub(crate) mod child;
mod environment;
mod http2;
mod runtimes;
mod tower;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use promptarium::{Client, PromptId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::stub::{envelope, patient, prompt};

const TASKS: usize = 32;
const CALLS: usize = 100;

/// Answers some requests on each connection and then closes it, as servers close idle
/// connections.
async fn answer_some(mut stream: TcpStream, some: usize, answer: Arc<String>) {
    let mut request = Vec::new();
    for _ in 0..some {
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read_buf(&mut request).await {
                Ok(read) if read > 0 => {}
                _ => return,
            }
        }
        request.clear();
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_closed_under_load_cost_no_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = envelope(&prompt(7)).to_string();
    let answer =
        Arc::new(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(answer_some(stream, 5 + number % 20, answer.clone()));
        }
    });

    let client = patient(format!("http://{address}")).build().unwrap();
    let tasks = (0..TASKS).map(|_| {
        let client = client.clone();
        tokio::spawn(async move {
            for _ in 0..CALLS {
                client.prompts().get(PromptId::new(7)).await.expect("no read fails");
            }
        })
    });
    for task in futures::future::join_all(tasks).await {
        task.unwrap();
    }
    let connections = connections.load(Ordering::SeqCst);
    assert!(connections >= TASKS * CALLS / 25, "{connections}");
}

/// The TLS client hello names the protocols that the client speaks.
#[cfg(feature = "rustls")]
#[tokio::test]
async fn http2_is_offered_by_its_feature_only() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/api/v1", listener.local_addr().unwrap());
    let client = Client::new(url, crate::stub::KEY).unwrap();
    let call = tokio::spawn(client.vaults().list().into_future());
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut hello = vec![0; 5];
    stream.read_exact(&mut hello).await.unwrap();
    let length = usize::from(u16::from_be_bytes([hello[3], hello[4]]));
    hello.resize(5 + length, 0);
    stream.read_exact(&mut hello[5..]).await.unwrap();
    call.abort();
    let offers = |protocol: &[u8]| hello.windows(protocol.len()).any(|bytes| bytes == protocol);
    assert_eq!((hello[0], hello[5]), (22, 1), "a handshake record with a client hello");
    assert_eq!(offers(b"\x02h2"), cfg!(feature = "http2"));
}
