//! Assets of a deployment that moves: another public URL, another folder. `docs/backup.md` has
//! another database, too, and a test runs it.

use std::path::Path;

use promptarium_server::Clock;
use promptarium_server::test_support::{DatabaseUrl, Migration, PostgresStore, ScratchDatabase};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::{Connection, Response, Slot, get};
use crate::support::program::{Running, program, refusal};
use crate::support::{TIMEOUT, folder_store, wait_until};

const KEY: &str = "promptarium_live_a1_s3cret";
/// A picture of one pixel.
const GIF: &[u8] =
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\
    \x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b";

/// A server whose public URL is that of its listener: another one at each start.
async fn start(database: &ScratchDatabase, blobs: &str) -> Running {
    let url = database.url();
    let flags = format!("--seed-key {KEY}=alice --database-url {url} --blob-store {blobs}");
    Running::start(&format!("--log=warn {flags}")).await
}

async fn stop(server: Running) {
    assert_eq!(server.stop().await.stderr, "");
}

/// What the program says when it cannot start, below this folder.
async fn refused(database: &ScratchDatabase, blobs: &str, folder: &Path) -> String {
    let url = database.url();
    let flags = format!("--log=error --database-url {url} --blob-store {blobs}");
    let mut command = program(&format!("--listen=127.0.0.1:0 {flags}"));
    command.current_dir(folder);
    let text = refusal(command, 2).await;
    assert!(text.contains("--blob-store: "), "{text}");
    text
}

async fn send(server: &Running, method: &str, path: &str, body: Option<Value>) -> Response {
    let body = body.map(|body| body.to_string());
    Connection::to(server).await.api(KEY, method, path, body.as_deref()).await
}

/// Uploads a picture; its address.
async fn upload(server: &Running) -> String {
    let slot = Slot::of(server.base_url(), KEY, "image/gif", GIF.len()).await;
    assert_eq!(slot.put(GIF).await.status, 200);
    format!("{}{}", server.root(), slot.path)
}

/// The addresses of the pictures of a generation with this input.
async fn generate(server: &Running, name: &str, input: &str) -> Vec<String> {
    let body = json!({"modelId": "local/plasma", "prompt": "p", "clientJobId": name,
        "imageInput": input, "referenceImageUrls": [input, "https://other.example/a.png"]});
    let queued = send(server, "POST", "/generations", Some(body)).await;
    assert_eq!(queued.status, 202, "{queued:?}");
    let path = format!("/generations/{name}/status");
    let has_ended = async || {
        let job = send(server, "GET", &path, None).await.data();
        assert_ne!(job["status"], "failed", "{job}");
        job["status"] == "completed"
    };
    wait_until(TIMEOUT, has_ended).await.expect("an end");
    let job = send(server, "GET", &path, None).await.data();
    let prompt = format!("/prompts/{}", job["promptId"]);
    urls(&send(server, "GET", &prompt, None).await.data())
}

/// The addresses of the pictures of a prompt.
fn urls(prompt: &Value) -> Vec<String> {
    let images = prompt["images"].as_array().unwrap().iter();
    images.map(|image| image["url"].as_str().unwrap().to_owned()).collect()
}

/// The addresses of the pictures of all prompts, all of which are there.
async fn all_pictures(server: &Running) -> Vec<String> {
    let prompts = send(server, "GET", "/prompts", None).await.data();
    let urls: Vec<_> = prompts.as_array().unwrap().iter().flat_map(urls).collect();
    for url in &urls {
        let path = url.strip_prefix(server.root()).unwrap_or_else(|| panic!("{url}"));
        assert_eq!(get(server, path).await.status, 200, "{url}");
    }
    urls
}

#[tokio::test]
async fn with_another_public_url_pictures_are_at_the_new_one_and_old_addresses_are_read() {
    let (database, folder) = (ScratchDatabase::create().await.unwrap(), TempDir::new().unwrap());
    let first = start(&database, &folder_store(&folder)).await;
    let input = upload(&first).await;
    let before = generate(&first, "before", &input).await;
    stop(first).await;

    let second = start(&database, &folder_store(&folder)).await;
    assert!(!before[0].starts_with(second.root()));
    assert_eq!(all_pictures(&second).await.len(), 1);
    let after = generate(&second, "after", &input).await;
    assert!(after[0].starts_with(second.root()), "{after:?}");
    // The same input at its address of today is the same request.
    let now = input.replacen(&input[..input.find("/assets/").unwrap()], second.root(), 1);
    assert_eq!(generate(&second, "after", &now).await, after);
    // An input that is not there, at an address of before, is known to be this service's.
    let absent = input.replace(&input[input.len() - 30..input.len() - 4], &"0".repeat(26));
    let body = json!({"modelId": "local/plasma", "prompt": "p", "imageInput": absent});
    let refused = send(&second, "POST", "/generations", Some(body)).await;
    assert!(refused.body.contains("was not uploaded"), "{refused:?}");
    stop(second).await;
}

#[tokio::test]
async fn a_folder_moved_with_its_mark_works_and_another_one_is_refused_with_both_paths() {
    let (database, parent) = (ScratchDatabase::create().await.unwrap(), TempDir::new().unwrap());
    let [old, new, other] = ["old", "new", "other"].map(|name| parent.path().join(name));
    let store = |path: &Path| format!("file:{}", path.display());
    let first = start(&database, &store(&old)).await;
    let input = upload(&first).await;
    generate(&first, "j", &input).await;
    stop(first).await;

    // New and empty; seen from elsewhere; without its mark; of another database.
    for (blobs, path) in
        [(&*store(&other), other.clone()), ("file:./data", parent.path().join("data"))]
    {
        let text = refused(&database, blobs, parent.path()).await;
        assert!([&old, &path].iter().all(|path| text.contains(path.to_str().unwrap())), "{text}");
    }
    std::fs::rename(&old, &new).unwrap();
    refused(&database, &store(&old), parent.path()).await;

    let second = start(&database, &store(&new)).await;
    assert_eq!(all_pictures(&second).await.len(), 1);
    stop(second).await;
    let text = refused(&database, &store(&other), parent.path()).await;
    assert!(text.contains(new.to_str().unwrap()), "it is now there: {text}");
}

#[tokio::test]
async fn an_unusable_folder_is_refused_before_the_database_is_migrated() {
    let database = ScratchDatabase::empty().await.unwrap();
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("taken"), "").unwrap();
    let text = refused(&database, "file:taken/blobs", folder.path()).await;
    assert!(text.contains(folder.path().join("taken/blobs").to_str().unwrap()), "{text}");
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    let schema = PostgresStore::open(&url, Migration::Off, Clock::System).await.unwrap_err();
    assert!(schema.to_string().contains("V1__schema"), "{schema}");
}
