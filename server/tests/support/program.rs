//! The program as a child process, with nothing in its environment but what a
//! test puts there.

use std::ffi::OsStr;
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

use super::TIMEOUT;
use super::client::Connection;

const PROGRAM: &str = env!("CARGO_BIN_EXE_promptarium-server");
const ANYWHERE: [&str; 2] = ["--listen=127.0.0.1:0", "--json"];

/// Tests end the program without a balancer in front.
fn no_drain_delay() -> [(&'static str, &'static OsStr); 1] {
    [("PROMPTARIUM_DRAIN_DELAY", "0".as_ref())]
}

/// The program with these arguments and variables, not yet started.
pub(crate) fn program<S: AsRef<OsStr>>(arguments: &[S], variables: &[(&str, &OsStr)]) -> Command {
    prepared(Command::new(PROGRAM), arguments, variables)
}

fn prepared<S: AsRef<OsStr>>(
    mut command: Command,
    arguments: &[S],
    variables: &[(&str, &OsStr)],
) -> Command {
    command.env_clear().args(arguments).envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs the program to its end.
pub(crate) async fn output(mut command: Command) -> Output {
    timeout(TIMEOUT, command.output()).await.expect("an end in time").unwrap()
}

/// The one line of a program that did not start because of its settings.
pub(crate) async fn refusal_of(command: Command) -> String {
    let ended = output(command).await;
    let text = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), &*ended.stdout), (Some(2), &b""[..]), "{text}");
    assert_eq!(text.matches('\n').count(), 1, "{text}");
    text
}

/// Sends a signal by its name, such as `STOP`.
pub(crate) async fn signal(name: &str, processes: &[String]) {
    let status = Command::new("kill").args(["-s", name]).args(processes).status().await;
    assert!(status.unwrap().success(), "kill -s {name} {processes:?}");
}

/// The program, ready for requests.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) ready: Value,
    stdout: Lines<BufReader<ChildStdout>>,
    /// Unless it was sent elsewhere.
    stderr: Option<Lines<BufReader<ChildStderr>>>,
}

/// How the program ended and what it wrote after its ready line.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    /// Starts it on a free port and waits for its ready line.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        Self::of(program(&[&ANYWHERE, arguments].concat(), &no_drain_delay())).await
    }

    /// As [`Running::start`], by a shell that says something to the system first.
    pub(crate) async fn start_after(shell: &str, arguments: &[&str]) -> Self {
        let shell = format!("{shell}; exec \"$@\"");
        let first = ["-c", &shell, "sh", PROGRAM];
        let arguments = [&first[..], &ANYWHERE, arguments].concat();
        Self::of(prepared(Command::new("sh"), &arguments, &no_drain_delay())).await
    }

    /// Starts a command that prints the ready line as JSON.
    pub(crate) async fn of(command: Command) -> Self {
        Self::try_of(command).await.expect("a ready line")
    }

    /// `None` if it ends before it is ready.
    pub(crate) async fn try_of(mut command: Command) -> Option<Self> {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().map(|stderr| BufReader::new(stderr).lines());
        let line = timeout(TIMEOUT, stdout.next_line()).await.expect("a line in time").unwrap()?;
        Some(Self { child, ready: serde_json::from_str(&line).unwrap(), stdout, stderr })
    }

    pub(crate) fn base_url(&self) -> &str {
        self.ready["base_url"].as_str().unwrap()
    }

    /// The address of its pages, without a slash at the end.
    pub(crate) fn root(&self) -> &str {
        self.base_url().strip_suffix("/api/v1").unwrap()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// The key that it has made, or the empty text.
    pub(crate) fn api_key(&self) -> &str {
        self.ready["api_key"].as_str().unwrap_or_default()
    }

    /// The peak of its memory, in MiB.
    pub(crate) fn peak_mib(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process_id()));
        let status = status.unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() / 1024
    }

    /// The listener of metrics, of a server with a free port for it.
    pub(crate) async fn admin(&mut self) -> Connection {
        let event = self.event("serving metrics").await;
        Connection::open(event["address"].as_str().unwrap()).await
    }

    /// The next line of stdout, which is JSON.
    pub(crate) async fn line(&mut self) -> Value {
        let line = timeout(TIMEOUT, self.stdout.next_line()).await.expect("a line in time");
        serde_json::from_str(&line.unwrap().expect("a line")).unwrap()
    }

    /// The next event in the log with this message.
    pub(crate) async fn event(&mut self, message: &str) -> Value {
        let stderr = self.stderr.as_mut().unwrap();
        loop {
            let line = timeout(TIMEOUT, stderr.next_line()).await.expect("a line in time");
            let event: Value = serde_json::from_str(&line.unwrap().expect("a line")).unwrap();
            if event["message"] == message {
                return event;
            }
        }
    }

    /// Sends a signal by its name.
    pub(crate) async fn signal(&self, name: &str) {
        signal(name, &[self.process_id().to_string()]).await;
    }

    /// Asks it to stop, and waits for its end.
    pub(crate) async fn stop(self) -> Ended {
        self.signal("TERM").await;
        self.end().await
    }

    /// Waits for its end.
    pub(crate) async fn end(mut self) -> Ended {
        let status = timeout(TIMEOUT, self.child.wait()).await.expect("an end in time").unwrap();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.get_mut().read_to_string(&mut stdout).await.unwrap();
        if let Some(lines) = &mut self.stderr {
            lines.get_mut().read_to_string(&mut stderr).await.unwrap();
        }
        Ended { code: status.code(), stdout, stderr }
    }
}
