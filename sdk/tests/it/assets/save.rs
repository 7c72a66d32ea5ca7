//! What a download to a path does to the file that is there.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use promptarium::testing::{Answer, client};
use promptarium::{Error, RetryPolicy};

use super::retries::{URL, bytes, storage, whole};
use crate::errors::kinds;

/// A folder of one test, deleted when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("promptarium-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names in it.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The text with the path of the folder replaced.
    fn shown(&self, error: &Error) -> String {
        error.to_string().replace(&self.0.display().to_string(), "FOLDER")
    }

    fn pipe(&self) -> PathBuf {
        let path = self.file("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn save(path: &Path, answers: Vec<Answer>) -> Result<u64, Error> {
    client(&storage(answers)).assets().download(URL).save(path).await
}

#[tokio::test]
async fn a_file_is_written_and_an_old_one_replaced() {
    let folder = Folder::new("new");
    let path = folder.file("1.png");
    for _ in 0..2 {
        assert_eq!(save(&path, vec![whole()]).await.unwrap(), 1000);
        assert!(fs::read(&path).unwrap() == bytes());
        fs::write(&path, "old").unwrap();
    }
    assert_eq!(folder.names(), ["1.png"]);
}

#[tokio::test]
async fn the_mode_of_the_old_file_is_kept() {
    let folder = Folder::new("mode");
    let path = folder.file("1.png");
    fs::write(&path, "old").unwrap();
    for mode in [0o600, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        save(&path, vec![whole()]).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[tokio::test]
async fn a_link_stays_and_its_target_is_replaced() {
    let folder = Folder::new("link");
    let (link, second, target) = (folder.file("a"), folder.file("b"), folder.file("c"));
    symlink("b", &link).unwrap();
    symlink(&target, &second).unwrap();
    for _ in 0..2 {
        fs::write(&target, "old").unwrap();
        save(&link, vec![whole()]).await.unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&second).unwrap().is_symlink());
        assert!(fs::read(&target).unwrap() == bytes());
    }
    assert_eq!(folder.names(), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_pipe_is_written_into() {
    let folder = Folder::new("pipe");
    let pipe = folder.pipe();
    let reader = read(&pipe);
    assert_eq!(save(&pipe, vec![whole()]).await.unwrap(), 1000);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(reader.join().unwrap() == bytes());
    assert_eq!(folder.names(), ["pipe"]);
}

#[tokio::test]
async fn what_was_written_into_a_pipe_is_not_written_again() {
    let folder = Folder::new("pipe-cut");
    let pipe = folder.pipe();
    let reader = read(&pipe);
    let error = save(&pipe, vec![whole().cut_at(400), whole()]).await.unwrap_err();
    assert_eq!((kinds(&error).as_str(), error.attempts()), ("transport retryable", 1));
    assert!(reader.join().unwrap() == bytes()[..400]);
}

// A device is the same case, but a test that runs as root could replace a device of the machine.
#[tokio::test]
async fn a_socket_is_not_replaced() {
    let folder = Folder::new("socket");
    let path = folder.file("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = save(&path, vec![]).await.unwrap_err();
    assert!(folder.shown(&error).starts_with("FOLDER/socket cannot be written: "), "{error}");
    assert!(fs::metadata(&path).unwrap().file_type().is_socket());
}

#[tokio::test]
async fn a_file_that_is_begun_again_has_no_rest_of_the_first_attempt() {
    let folder = Folder::new("again");
    let path = folder.file("1.png");
    let long = Answer::raw(200, "image/png", vec![1; 5000]).cut_at(4000);
    let mut attempts = Vec::new();
    let script = storage(vec![long, whole()]);
    let download = client(&script).assets().download(URL);
    let download = download.on_progress(|progress| attempts.push(progress.attempt));
    assert_eq!(download.save(&path).await.unwrap(), 1000);
    assert!(fs::read(&path).unwrap() == bytes());
    assert_eq!(attempts, [1, 1, 2, 2]);
}

#[tokio::test]
async fn a_circle_of_links_is_an_error() {
    let folder = Folder::new("circle");
    symlink("b", folder.file("a")).unwrap();
    symlink("a", folder.file("b")).unwrap();
    let error = save(&folder.file("a"), vec![]).await.unwrap_err();
    let text = folder.shown(&error);
    assert!(text.starts_with("FOLDER/a cannot be written: Too many levels of symbolic"), "{text}");
    assert_eq!(folder.names(), ["a", "b"]);
}

/// Reads all of a pipe on a thread.
fn read(pipe: &Path) -> std::thread::JoinHandle<Vec<u8>> {
    let pipe = pipe.to_owned();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        fs::File::open(pipe).unwrap().read_to_end(&mut all).unwrap();
        all
    })
}

#[tokio::test]
async fn a_name_of_255_bytes_is_no_problem() {
    let folder = Folder::new("long");
    let name = "a".repeat(255);
    save(&folder.file(&name), vec![whole()]).await.unwrap();
    assert_eq!(folder.names(), [name]);
}

#[tokio::test]
async fn a_download_that_fails_leaves_the_old_file() {
    let folder = Folder::new("old");
    let path = folder.file("1.png");
    fs::write(&path, "old").unwrap();
    let script = storage(vec![whole().cut_at(400)]);
    let download = client(&script).assets().download(URL).retry(RetryPolicy::never());
    download.save(&path).await.unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.names(), ["1.png"]);
}

#[tokio::test]
async fn a_path_that_cannot_be_written_is_an_error_with_its_reason() {
    let folder = Folder::new("bad");
    for (name, text) in [
        ("", "FOLDER/ cannot be written: it is a directory"),
        ("no/1.png", "FOLDER/no/1.png cannot be written: No such file or directory (os error 2)"),
    ] {
        let error = save(&folder.file(name), vec![]).await.unwrap_err();
        assert_eq!((folder.shown(&error).as_str(), kinds(&error).as_str()), (text, "input"));
    }
    assert!(folder.names().is_empty());
}

/// The files for the bytes in this folder.
fn partial(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.ends_with(".part")).collect()
}

#[tokio::test]
async fn what_killed_programs_left_is_removed_by_the_next_download_to_the_same_file() {
    let name = "assets::save::\
                what_killed_programs_left_is_removed_by_the_next_download_to_the_same_file";
    if let Some(path) = std::env::var_os("PROMPTARIUM_TEST_FILE").map(PathBuf::from) {
        let killed = async {
            while partial(path.parent().unwrap()).is_empty() {
                tokio::task::yield_now().await;
            }
            std::process::abort();
        };
        tokio::select! {
            saved = save(&path, vec![whole().stall_at(10)]) => panic!("{saved:?}"),
            () = killed => unreachable!(),
        }
    }
    let folder = Folder::new("killed");
    let path = folder.file("1.png");
    for _ in 0..3 {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", name]).env("PROMPTARIUM_TEST_FILE", &path);
        assert!(!program.output().unwrap().status.success());
    }
    assert_eq!(partial(&folder.0).len(), 1, "{:?}", folder.names());
    save(&path, vec![whole()]).await.unwrap();
    assert_eq!(folder.names(), ["1.png"]);
}

#[tokio::test]
async fn downloads_to_the_same_file_at_the_same_time_do_not_share_a_file() {
    let folder = Folder::new("both");
    let path = folder.file(&"é".repeat(127));
    let slow = whole().after(std::time::Duration::from_millis(50));
    let both = [save(&path, vec![slow.clone()]), save(&path, vec![slow])];
    for size in futures::future::join_all(both).await {
        assert_eq!(size.unwrap(), 1000);
    }
    assert!(fs::read(&path).unwrap() == bytes());
    assert_eq!(folder.names().len(), 1, "{:?}", folder.names());
}

#[tokio::test]
async fn a_link_in_place_of_the_file_for_the_bytes_is_not_followed() {
    let folder = Folder::new("planted");
    let (path, victim) = (folder.file("1.png"), folder.file("victim"));
    fs::write(&victim, "mine").unwrap();
    symlink(&victim, folder.file(".1.png.promptarium.part")).unwrap();
    save(&path, vec![whole()]).await.unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert!(fs::read(&path).unwrap() == bytes());
}
