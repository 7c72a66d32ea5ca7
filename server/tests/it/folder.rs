//! A server whose data are in a folder: it stops and starts, takes commands, and is moved.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::{ZipArchive, ZipWriter};

use crate::support::client::{Connection, call, get};
use crate::support::program::{Ended, Running, output, program, refusal};
use crate::support::{PROMPT, TIMEOUT, files, wait_until};

const KEY: &str = "promptarium_live_a1_s3cretOfAlice";

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// The flag of the folder of this name.
    fn data(&self, name: &str) -> String {
        format!("--data={}", self.path(name))
    }

    async fn start(&self, more: &str) -> Running {
        Running::start(&format!("{} --seed-key={KEY}=alice {more}", self.data("data"))).await
    }
}

async fn command(arguments: &str) -> Ended {
    let ended = output(program(arguments)).await;
    assert_eq!(ended.code, Some(0), "{arguments}: {ended:?}");
    ended
}

async fn send(server: &Running, key: &str, method: &str, path: &str, body: Option<Value>) -> Value {
    let body = body.map(|body| body.to_string());
    let response = Connection::to(server).await.api(key, method, path, body.as_deref()).await;
    assert!(response.status < 300, "{path}: {response:?}");
    response.data()
}

/// Generates three pictures for two prompts, and returns the bytes of all.
async fn generate(server: &Running) -> Vec<Vec<u8>> {
    for (job, count) in [("j", 1), ("k", 2)] {
        let body = json!({
            "modelId": "local/plasma", "prompt": "A harbour", "clientJobId": job, "batchCount": count,
        });
        send(server, KEY, "POST", "/generations", Some(body)).await;
        let has_ended = async || {
            let path = format!("/generations/{job}/status");
            send(server, KEY, "GET", &path, None).await["status"] == "completed"
        };
        wait_until(TIMEOUT, has_ended).await.expect("an end");
    }
    pictures(server, KEY).await
}

/// The bytes of the three pictures of the account, in the order of its list.
async fn pictures(server: &Running, key: &str) -> Vec<Vec<u8>> {
    let prompts = send(server, key, "GET", "/prompts", None).await;
    let images = prompts.as_array().unwrap().iter().filter_map(|one| one["images"].as_array());
    let mut files = Vec::new();
    for image in images.flatten() {
        let url = image["url"].as_str().unwrap();
        let path = url.strip_prefix(server.root()).unwrap_or_else(|| panic!("{url}"));
        let file = get(server, path).await;
        assert_eq!(file.status, 200, "{url}");
        files.push(file.bytes);
    }
    assert_eq!(files.len(), 3);
    assert!(files[1] != files[2], "they cannot be told apart");
    files
}

#[tokio::test]
async fn the_reader_of_a_list_may_leave_before_its_end() {
    let home = Home::new();
    let _server = home.start("").await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut list = program(&format!("account list {}", home.data("data")));
    assert!(list.stdout(writer).status().await.unwrap().success());
}

#[tokio::test]
async fn what_was_kept_is_there_after_a_stop_and_a_start() {
    let home = Home::new();
    let server = home.start("").await;
    assert_eq!(server.ready["store"], "folder");
    let id = send(&server, KEY, "POST", "/prompts", Some(serde_json::from_str(PROMPT).unwrap()))
        .await["id"]
        .clone();
    let bytes = generate(&server).await;
    let refused = refusal(program(&format!("--listen=127.0.0.1:0 {}", home.data("data"))), 2).await;
    for part in [&home.path("data"), &format!("(process {})", server.process_id()), "--data: "] {
        assert!(refused.contains(part), "{refused}");
    }
    assert_eq!(server.stop().await.code, Some(0));
    let server = home.start("").await;
    assert_eq!(send(&server, KEY, "GET", &format!("/prompts/{id}"), None).await["id"], id);
    assert_eq!(pictures(&server, KEY).await, bytes);
    let job = send(&server, KEY, "GET", "/generations/j/status", None).await;
    assert_eq!(job["status"], "completed");
}

#[tokio::test]
async fn commands_reach_the_running_server_and_open_the_folder_without_one() {
    let home = Home::new();
    let place = home.data("data");
    let line = refusal(program(&format!("account list {place}")), 2).await;
    assert!(line.contains("there are no data in"), "{line}");
    assert!(!Path::new(&home.path("data")).exists());

    let server = home.start("").await;
    let socket = std::fs::metadata(home.path("data/admin.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    let key = command(&format!("key create --account alice {place}")).await.stdout;
    let key = key.trim();
    assert_eq!(send(&server, key, "GET", "/prompts", None).await, json!([]));
    send(&server, KEY, "POST", "/prompts", Some(serde_json::from_str(PROMPT).unwrap())).await;
    let export = command(&format!("account export alice {place}")).await.stdout;
    std::fs::write(home.path("alice.json"), &export).unwrap();
    command(&format!("account create bob {place}")).await;
    let import = format!("account import bob {} {place}", home.path("alice.json"));
    assert!(command(&import).await.stdout.starts_with("imported 1 prompts and"));
    let line = refusal(program(&format!("account create bob {place}")), 1).await;
    assert!(line.contains("the account bob already exists"), "{line}");

    server.stop().await;
    assert!(!Path::new(&home.path("data/admin.sock")).exists());
    let accounts = command(&format!("account list --json {place}")).await.json();
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 2, "{accounts}");
    let copy = command(&format!("account export bob {place}")).await.stdout;
    assert_eq!(copy.matches("A harbour at dawn").count(), 1, "{copy}");
}

#[tokio::test]
async fn the_socket_of_a_killed_server_does_not_stop_the_next_one_nor_a_command() {
    let home = Home::new();
    let list = format!("account list {}", home.data("data"));
    home.start("").await.child.kill().await.unwrap();
    assert!(Path::new(&home.path("data/admin.sock")).exists());
    command(&list).await;
    let server = home.start("").await;
    command(&list).await;
    assert_eq!(server.stop().await.code, Some(0));
    assert!(!Path::new(&home.path("data/admin.sock")).exists());
}

#[tokio::test]
async fn an_archive_carries_an_account_with_its_pictures_to_postgresql_and_back() {
    let home = Home::new();
    let database = ScratchDatabase::create().await.unwrap();
    let server = home.start("").await;
    let bytes = generate(&server).await;
    let (there, back) = (home.path("there.zip"), home.path("back.zip"));
    command(&format!("account export alice --with-files {there} {}", home.data("data"))).await;
    server.stop().await;

    let url = format!("--database-url={} --blob-store=file:{}", database.url(), home.path("files"));
    command(&format!("account create alice {url}")).await;
    command(&format!("account import alice {there} {url}")).await;
    let key = command(&format!("key create --account alice {url}")).await.stdout;
    let moved = Running::start(&url).await;
    assert_eq!(pictures(&moved, key.trim()).await, bytes);
    command(&format!("account export alice --with-files {back} {url}")).await;

    let again = home.data("again");
    let server = Running::start(&format!("{again} --seed-key={KEY}=alice")).await;
    command(&format!("account import alice {back} {again}")).await;
    assert_eq!(pictures(&server, KEY).await, bytes);
}

/// A copy of an archive without its pictures.
fn without_pictures(from: &str, to: &str) {
    let mut from = ZipArchive::new(File::open(from).unwrap()).unwrap();
    let mut copy = ZipWriter::new(File::create(to).unwrap());
    copy.raw_copy_file(from.by_name("account.json").unwrap()).unwrap();
    copy.finish().unwrap();
}

#[tokio::test]
async fn an_archive_goes_to_the_blob_store_of_the_server_or_nowhere() {
    let home = Home::new();
    let (own, data) = (format!("--blob-store=file:{}", home.path("own")), home.data("data"));
    let server = home.start(&own).await;
    generate(&server).await;
    let archive = home.path("alice.zip");
    command(&format!("account export alice --with-files {archive} {data} {own}")).await;
    command(&format!("account create bob {data}")).await;
    let import = |to: &str| program(&format!("account import bob {archive} {data} {to}"));
    let refused = async |to: &str, expected: &str| {
        let line = refusal(import(to), 1).await;
        assert!(line.contains(expected), "{line}");
        let copy = command(&format!("account export bob {data}")).await.stdout;
        assert!(copy.contains("\"prompts\":[]"), "{copy}");
    };
    let right = format!("the files of this service are in file:{}", home.path("own"));
    refused(&format!("--blob-store=file:{}", home.path("other")), &right).await;
    let stored = files(Path::new(&home.path("other")));
    assert!(stored.iter().all(|file| file.ends_with(".promptarium")), "{stored:?}");
    // The default is a folder in the data folder.
    refused("", &right).await;
    refused("--blob-store=memory:", "--blob-store: files in memory are lost").await;
    server.stop().await;
    refused("", &right).await;
    assert_eq!(output(import(&own)).await.code, Some(0));
}

#[tokio::test]
async fn an_archive_whose_pictures_are_missing_or_differ_is_refused() {
    let home = Home::new();
    let server = home.start("").await;
    let bytes = generate(&server).await;
    let (whole, part) = (home.path("whole.zip"), home.path("part.zip"));
    command(&format!("account export alice --with-files {whole} {}", home.data("data"))).await;
    without_pictures(&whole, &part);
    let other = home.data("other");
    let there = Running::start(&format!("{other} --seed-key={KEY}=alice")).await;
    let refused = async |archive: &str, expected: &str| {
        let line = refusal(program(&format!("account import alice {archive} {other}")), 1).await;
        assert!(line.contains("nothing is imported: "), "{line}");
        assert!(line.contains(expected), "{line}");
        assert_eq!(send(&there, KEY, "GET", "/prompts", None).await, json!([]));
    };
    refused(&part, "3 files that account.json names are neither in it nor in the blob store").await;

    let files = files(Path::new(&home.path("data/blobs/images")));
    let place = files[0].strip_prefix(home.path("data")).unwrap();
    let target = Path::new(&home.path("other")).join(place);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::write(&target, "another").unwrap();
    refused(&whole, "the blob store has another file at").await;

    std::fs::remove_file(&target).unwrap();
    let mut damaged = std::fs::read(&whole).unwrap();
    let at = damaged.windows(bytes[0].len()).position(|part| part == bytes[0]).unwrap();
    damaged[at + bytes[0].len() / 2] ^= 1;
    std::fs::write(home.path("damaged.zip"), damaged).unwrap();
    refused(&home.path("damaged.zip"), "Invalid checksum").await;

    // Where the store has them, an archive may lack the pictures.
    command(&format!("account import alice {whole} {other}")).await;
    command(&format!("account create bob {other}")).await;
    command(&format!("account import bob {part} {other}")).await;
}

#[tokio::test]
async fn a_backup_of_a_running_server_is_restored_at_another_address() {
    let home = Home::new();
    let server = home.start("").await;
    let bytes = generate(&server).await;
    let (archive, restored) = (home.path("backup.zip"), home.data("restored"));
    command(&format!("backup {archive} {}", home.data("data"))).await;
    // Of another host.
    let _first = server;
    command(&format!("restore {archive} {restored}")).await;
    let second = refusal(program(&format!("restore {archive} {restored}")), 1).await;
    assert!(second.contains("has data"), "{second}");
    let server = Running::start(&restored).await;
    assert_eq!(pictures(&server, KEY).await, bytes);
}

#[tokio::test]
async fn an_embedded_server_with_a_folder_has_its_data_again() {
    let home = Home::new();
    let start = async || {
        let builder = EmbeddedServer::builder().seed_key(format!("{KEY}=alice"));
        builder.data(home.path("data")).start().await.unwrap()
    };
    let server = start().await;
    let made = call(&server, "POST", "/prompts", Some(PROMPT)).await.data();
    server.shutdown().await;
    let server = start().await;
    let path = format!("/prompts/{}", made["id"]);
    assert_eq!(call(&server, "GET", &path, None).await.data(), made);
}

#[tokio::test]
async fn a_folder_and_a_database_exclude_each_other() {
    let both = "--data=x --database-url=postgres://a@localhost/b";
    let line = refusal(program(both), 2).await;
    assert!(line.contains("--data: cannot be used with --database-url"), "{line}");
    let line = refusal(program("account list --data=memory:"), 2).await;
    assert!(line.contains("--data: a command cannot reach a server in memory"), "{line}");
}
