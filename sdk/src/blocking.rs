//! Calls for programs without an async runtime: the same client and the same calls, ended by
//! `send_blocking()` in place of `.await`, and iterators in place of streams. Feature `blocking`.
//!
//! ```no_run
//! # fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
//! let vault = client.vaults().create("Harbours").send_blocking()?;
//! for prompt in client.prompts().list().vault(vault.id).items().blocking() {
//!     println!("{}", prompt?.title);
//! }
//! # Ok(()) }
//! ```
//!
//! A call runs on the thread that makes it, callbacks such as `on_progress` included. One thread
//! for the whole process drives connections and timers, so any number of threads may call at once.
//!
//! A blocking call works inside async code too, but blocks the thread of the executor. After
//! `fork()` the first call in the child process starts a thread of its own. An iterator must be used
//! in the process that created it, and `fork()` must not happen while another thread makes a call.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::process;
use std::sync::{Mutex, PoisonError};
use std::thread;

use futures_core::Stream;
use tokio::runtime::{Builder, Handle};

use crate::call::{Call, Endpoint, Run};
use crate::error::Error;
use crate::pages::{Items, Pages};
use crate::resources::assets::AssetStream;
use crate::resources::generations::Watch;
use crate::send::reply::WithMeta;

/// The runtime of all blocking calls of this process; a thread of its own drives it.
fn runtime() -> Result<Handle, Error> {
    static RUNTIME: Mutex<Option<(u32, Handle)>> = Mutex::new(None);
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    match &*runtime {
        // After a fork the child process has the handle, but not the thread.
        Some((process, handle)) if *process == process::id() => Ok(handle.clone()),
        _ => {
            let handle = start().map_err(no_thread)?;
            *runtime = Some((process::id(), handle.clone()));
            Ok(handle)
        }
    }
}

fn start() -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let drive = move || runtime.block_on(std::future::pending::<()>());
    thread::Builder::new().name("promptarium".to_owned()).spawn(drive)?;
    Ok(handle)
}

fn no_thread(source: io::Error) -> Error {
    Error::set_up("thread for blocking calls", source)
}

fn wait<F>(future: F) -> Result<F::Output, Error>
where
    F: Future<Output: Send> + Send,
{
    let runtime = runtime()?;
    if Handle::try_current().is_err() {
        return Ok(runtime.block_on(future));
    }
    // Tokio panics when a thread of a runtime is blocked, so another thread waits.
    let joined = thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || runtime.block_on(future));
        waiting.map(thread::ScopedJoinHandle::join)
    });
    match joined.map_err(no_thread)? {
        Ok(output) => Ok(output),
        Err(panic) => resume_unwind(panic),
    }
}

/// A stream as an iterator, with the methods of the stream.
#[must_use = "an iterator requests only what is taken from it"]
pub struct Blocking<S>(Option<S>);

/// Sending it from a thread.
impl<T: Send, B: Run<T>> Call<T, B> {
    /// [`send`](Self::send), and blocks the thread; see [`blocking`](crate::blocking).
    pub fn send_blocking(self) -> Result<T, Error> {
        wait(self.into_future())?
    }
}

/// Sending it from a thread.
impl<T: Send + 'static, B: Endpoint<T>> Call<T, B> {
    /// [`send_with_meta`](Self::send_with_meta), and blocks the thread.
    pub fn send_with_meta_blocking(self) -> Result<WithMeta<T>, Error> {
        wait(self.send_with_meta())?
    }
}

macro_rules! iterators {
    ($([$($generic:ident)?] $name:ty;)*) => {$(
        impl $(<$generic>)? $name {
            /// The stream as a blocking iterator; see [`blocking`](crate::blocking).
            pub const fn blocking(self) -> Blocking<Self> {
                Blocking(Some(self))
            }
        }
    )*};
}

iterators! {
    [T] Pages<T>;
    [T] Items<T>;
    [] Watch;
    [] AssetStream;
}

impl<T: Send, S> Iterator for Blocking<S>
where
    S: Stream<Item = Result<T, Error>> + Send + Unpin,
{
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let stream = self.0.as_mut()?;
        wait(poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx))).unwrap_or_else(|e| Some(Err(e)))
    }
}

#[expect(clippy::expect_used, reason = "the stream is absent only while this is dropped")]
impl<S> Deref for Blocking<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.0.as_ref().expect("the stream is there until it is dropped")
    }
}

#[expect(clippy::expect_used, reason = "the stream is absent only while this is dropped")]
impl<S> DerefMut for Blocking<S> {
    fn deref_mut(&mut self) -> &mut S {
        self.0.as_mut().expect("the stream is there until it is dropped")
    }
}

impl<S> Drop for Blocking<S> {
    fn drop(&mut self) {
        // A request in flight returns its connection to the pool, which needs the runtime.
        let runtime = runtime();
        let _entered = runtime.as_ref().map(Handle::enter);
        self.0 = None;
    }
}

impl<S: fmt::Debug> fmt::Debug for Blocking<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
