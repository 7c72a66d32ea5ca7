//! What takes little memory however large it is: outputs of providers, and lists of vaults.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::support::client::{Slot, call};
use crate::support::program::Running;
use crate::support::{files, folder_store};

const MIB: usize = 1 << 20;

/// A provider whose requests are completed at once with a video of 500 MiB.
struct VideoProvider {
    origin: String,
    orders: AtomicUsize,
}

impl VideoProvider {
    const BYTES: usize = 500 * MIB;

    async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let this = Arc::new(Self { origin, orders: AtomicUsize::new(0) });
        let serving = this.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().answer(stream));
            }
        });
        this
    }

    async fn answer(self: Arc<Self>, mut stream: TcpStream) -> std::io::Result<()> {
        let mut request = vec![0; 64 * 1024];
        let length = stream.read(&mut request).await?;
        let request = String::from_utf8_lossy(&request[..length]).into_owned();
        let url = |last: &str| format!("{}/{last}", self.origin);
        let body = match request.split(' ').nth(1).unwrap_or_default() {
            "/file" => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", Self::BYTES);
                stream.write_all(head.as_bytes()).await?;
                let mut piece = vec![0; MIB];
                piece[..16].copy_from_slice(b"\0\0\0\x10ftypisom\0\0\0\0");
                for _ in 0..Self::BYTES / MIB {
                    stream.write_all(&piece).await?;
                    piece[..16].fill(0);
                }
                return stream.shutdown().await;
            }
            "/status" => json!({"status": "COMPLETED"}),
            "/result" => json!({"video": {"url": url("file"), "width": 16, "height": 9}}),
            _ => {
                let number = self.orders.fetch_add(1, Ordering::SeqCst);
                let (status_url, response_url) = (url("status"), url("result"));
                let id = format!("r-{number}");
                json!({"request_id": id, "status_url": status_url, "response_url": response_url})
            }
        };
        let body = body.to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
        stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).await?;
        stream.shutdown().await
    }
}

#[tokio::test]
async fn an_output_of_500_mib_is_stored_with_little_memory_and_was_ordered_once() {
    let database = ScratchDatabase::create().await.unwrap();
    let database = format!("--database-url={}", database.url());
    let both = [vec![], vec![database.as_str()]].map(async |further| {
        let (provider, folder) = (VideoProvider::start().await, TempDir::new().unwrap());
        let url = format!("--provider-url={}", provider.origin);
        let blobs = format!("--blob-store={}", folder_store(&folder));
        let arguments = [&["--provider=queue", "--provider-key=k", &url, &blobs], &further[..]];
        let server = Running::start(&arguments.concat(), &[]).await;
        let body = json!({"modelId": "acme/video", "prompt": "p", "generationType": "video",
            "clientJobId": "j"});
        for _ in 0..2 {
            let body = body.to_string();
            assert_eq!(call(&server, "POST", "/generations", Some(&body)).await.status, 202);
        }
        let ended = async {
            loop {
                let status = call(&server, "GET", "/generations/j/status", None).await.json();
                match status["data"]["status"].as_str().unwrap() {
                    "completed" => return,
                    "failed" => panic!("{status}"),
                    _ => sleep(Duration::from_millis(200)).await,
                }
            }
        };
        timeout(Duration::from_secs(120), ended).await.expect("an end in time");
        assert_eq!(provider.orders.load(Ordering::SeqCst), 1);
        assert_eq!(files(&folder).len(), 1);
        let size = walk_size(&folder);
        assert_eq!(size, VideoProvider::BYTES as u64);
        let peak = server.peak_mib();
        println!("peak: {peak} MiB");
        assert!(peak <= 128, "{peak} MiB");
    });
    join_all(both).await;
}

fn walk_size(folder: &TempDir) -> u64 {
    let (mut bytes, mut folders) = (0, vec![folder.path().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.metadata().unwrap() {
                // The mark of a folder store has less.
                file if file.is_file() && file.len() > 100 => bytes += file.len(),
                file if file.is_file() => {}
                _ => folders.push(entry.path()),
            }
        }
    }
    bytes
}

#[tokio::test]
async fn as_many_vaults_as_an_account_may_have_fit_into_one_response_and_the_memory() {
    let database = ScratchDatabase::create().await.unwrap();
    let url = database.url();
    let flags = ["--blob-store=memory:", "--log=error", "--database-url", &url];
    let server = Running::start(&flags, &[]).await;
    let (sql, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    // Characters of the most bytes in JSON.
    let insert = "INSERT INTO vault (account_id, name, description, visibility, slug, created_at, \
                  updated_at) SELECT a.id, repeat(chr(1), 50), repeat(chr(1), 200), 'private', \
                  'v-' || n, now(), now() FROM account a, generate_series(2, 10000) n";
    assert_eq!(sql.execute(insert, &[]).await.unwrap(), 9_999);

    let body = r#"{"name":"Sky"}"#;
    let refused = call(&server, "POST", "/vaults", Some(body)).await;
    assert_eq!(refused.status, 400, "{}", refused.body);

    let vaults = async || call(&server, "GET", "/vaults", None).await;
    let listed = vaults().await;
    assert_eq!(listed.json()["data"].as_array().unwrap().len(), 10_000);
    let bytes = listed.bytes.len();
    assert!(bytes > 16 * MIB, "{bytes}");
    let all = join_all((0..24).map(|_| vaults())).await;
    // Others exceed the account's share of the memory, or of the lists that are read at once.
    let statuses: BTreeSet<_> = all.iter().map(|response| response.status).collect();
    assert!(statuses.is_subset(&[200, 429, 503].into()), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
    let peak = server.peak_mib();
    println!("peak: {peak} MiB, {bytes} bytes, {statuses:?}");
    assert!(peak <= 256, "{peak} MiB");
}

#[tokio::test]
async fn unfinished_uploads_of_one_key_into_the_memory_take_no_more_than_its_share() {
    const UPLOADS: usize = 128;
    const SIZE: usize = 10 * MIB;
    let server = Running::start(&["--blob-store=memory:", "--log=error"], &[]).await;
    let bytes = vec![7; SIZE - 1];
    let (mut held, mut taken) = (Vec::new(), 0);
    for _ in 0..UPLOADS {
        let mut connection = Slot::to(&server, SIZE).await.begin(SIZE).await;
        connection.send(&bytes).await;
        // An upload lacks its last byte, and a refused one is answered.
        match timeout(Duration::from_millis(20), connection.response()).await {
            Ok(response) => assert_eq!(response.map_or(429, |refused| refused.status), 429),
            Err(_) => taken += 1,
        }
        held.push(connection);
    }
    let peak = server.peak_mib();
    println!("peak: {peak} MiB with {taken} of {UPLOADS} uploads of one key");
    assert!(peak <= 200, "{peak} MiB");
    assert!(taken > 0);
}
