//! The one Chromium of this process. Commands and events of the DevTools protocol go through a pipe,
//! each ending with a zero byte.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{LazyLock, Mutex};

use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use crate::{SKIP, TIMEOUT};

/// Chromium reads commands from descriptor 3 and writes to descriptor 4. It ends when the pipe
/// closes, in whatever way this process ends; then the shell removes its profile.
const SHELL: &str = "profile=$(mktemp -d); \
    chromium --user-data-dir=\"$profile\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1; \
    rm -rf \"$profile\"";

/// Pages of several tests are open at once; none may be throttled in favour of another.
const FLAGS: [&str; 10] = [
    "--headless=new",
    // The sandbox does not run as root. All pages are those of the tests.
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-sync",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
];

static CHROMIUM: LazyLock<Chromium> = LazyLock::new(start);
static STATE: Mutex<State> =
    Mutex::new(State { last: 0, waiting: BTreeMap::new(), loads: BTreeMap::new() });

struct Chromium(Mutex<ChildStdin>);

struct State {
    /// The id of the last command.
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Result<Value, String>>>,
    /// For each session how many pages were loaded.
    loads: BTreeMap<String, watch::Sender<usize>>,
}

fn start() -> Chromium {
    let mut found = Command::new("chromium");
    let found = found.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(
        !found.is_err_and(|error| error.kind() == ErrorKind::NotFound),
        "there is no `chromium`; install the package chromium, or set {SKIP}=1 to run no tests in \
         a browser"
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", SHELL, "sh"]).args(FLAGS).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let (commands, messages) = (shell.stdin.take().unwrap(), shell.stdout.take().unwrap());
    let messages = BufReader::new(messages).split(0);
    std::thread::spawn(move || {
        for message in messages {
            take(serde_json::from_slice(&message.unwrap()).unwrap());
        }
        // Whoever waits for an answer panics.
        STATE.lock().unwrap().waiting.clear();
        shell.wait()
    });
    Chromium(Mutex::new(commands))
}

/// Takes an answer or an event.
fn take(mut message: Value) {
    let mut state = STATE.lock().unwrap();
    if let Some(waiting) = message["id"].as_u64().and_then(|id| state.waiting.remove(&id)) {
        let error = message["error"]["message"].as_str().map(str::to_owned);
        drop(waiting.send(error.map_or_else(|| Ok(message["result"].take()), Err)));
    } else if message["method"] == "Page.loadEventFired" {
        let session = message["sessionId"].as_str().unwrap();
        if let Some(loads) = state.loads.get(session) {
            loads.send_modify(|count| *count += 1);
        }
    }
}

/// A command to a session, or to the browser if that is empty.
pub(crate) async fn call(session: &str, method: &str, params: Value) -> Result<Value, String> {
    let (sender, answer) = oneshot::channel();
    let mut message = json!({ "method": method, "params": params });
    if !session.is_empty() {
        message["sessionId"] = session.into();
    }
    {
        let mut state = STATE.lock().unwrap();
        state.last += 1;
        message["id"] = state.last.into();
        let id = state.last;
        state.waiting.insert(id, sender);
    }
    CHROMIUM.0.lock().unwrap().write_all(format!("{message}\0").as_bytes()).unwrap();
    let answer = timeout(TIMEOUT, answer).await;
    answer.unwrap_or_else(|_| panic!("no answer to {method}")).expect("Chromium runs")
}

/// A new profile with one page: its id, and the session of the page with the number of pages that
/// it has loaded.
pub(crate) async fn open() -> (Value, String, watch::Receiver<usize>) {
    let browser = async |method: &str, params: Value| call("", method, params).await.unwrap();
    let context =
        browser("Target.createBrowserContext", json!({})).await["browserContextId"].take();
    let target = json!({ "url": "about:blank", "browserContextId": context });
    let target = browser("Target.createTarget", target).await["targetId"].take();
    let attached = json!({ "targetId": target, "flatten": true });
    let attached = browser("Target.attachToTarget", attached).await;
    let session = attached["sessionId"].as_str().unwrap().to_owned();
    let (sender, loads) = watch::channel(0);
    STATE.lock().unwrap().loads.insert(session.clone(), sender);
    (context, session, loads)
}

/// Closes the page of a profile, and forgets all that it has stored.
pub(crate) async fn close(context: Value) {
    let params = json!({ "browserContextId": context });
    call("", "Target.disposeBrowserContext", params).await.unwrap();
}
