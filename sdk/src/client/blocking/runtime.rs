//! How a thread waits for a future: it polls it itself, while a thread of the client's
//! own drives the connections and timers that the future waits for.
//!
//! So a future may borrow, closures of the caller stay on the caller's thread, and none
//! of them can hold up or bring down another call.

use std::convert::Infallible;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::{io, thread};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::coop::unconstrained;

const THREAD_NAME: &str = "promptarium";

/// A runtime on a thread of its own. Both end when this is dropped.
pub(super) struct Runtime {
    handle: Handle,
    /// Nothing is ever sent; dropping it ends the thread.
    _stop: oneshot::Sender<Infallible>,
}

impl Runtime {
    /// The runtime is made and dropped on its thread, since dropping one within async
    /// code panics.
    pub(super) fn start() -> io::Result<Self> {
        let (made, make) = mpsc::sync_channel(1);
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(move || {
            let runtime = match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(made.send(Err(error))),
            };
            let _ = made.send(Ok(runtime.handle().clone()));
            let _ = runtime.block_on(stopped);
            // A name lookup that hangs holds up nobody.
            runtime.shutdown_background();
        })?;
        let handle = make.recv().map_err(io::Error::other)??;
        Ok(Self { handle, _stop: stop })
    }

    /// What the future comes to.
    pub(super) fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future<Output: Send> + Send,
    {
        let in_runtime = Handle::try_current().is_ok();
        // Until the future is dropped: what it leaves behind may want the runtime too.
        let _entered = self.handle.enter();
        // A task around us gets no new budget while it is held up.
        let mut future = pin!(unconstrained(future));
        let bell = Arc::new(Bell::default());
        if let Poll::Ready(output) = bell.poll(future.as_mut()) {
            return output;
        }
        // The runtime around us might keep a wake-up until it gets its thread back, which
        // is never. It knows nothing of another thread.
        if in_runtime {
            let output = thread::scope(|scope| {
                let (future, bell) = (future.as_mut(), &bell);
                let work = move || {
                    let _entered = self.handle.enter();
                    bell.finish(future)
                };
                Some(thread::Builder::new().spawn_scoped(scope, work).ok()?.join())
            });
            match output {
                Some(Ok(output)) => return output,
                Some(Err(panic)) => resume_unwind(panic),
                None => {}
            }
        }
        bell.finish(future)
    }

    /// Drops something that may want the runtime for it.
    pub(super) fn discard<T>(&self, value: T) {
        let _entered = self.handle.enter();
        drop(value);
    }
}

/// Rung by whatever a future waits for, heard by the thread that polls it.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    fn poll<F: Future>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(self));
        future.poll(&mut Context::from_waker(&waker))
    }

    fn finish<F: Future>(self: &Arc<Self>, mut future: Pin<&mut F>) -> F::Output {
        loop {
            if let Poll::Ready(output) = self.poll(future.as_mut()) {
                return output;
            }
            self.wait();
        }
    }

    fn wait(&self) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = self.heard.wait_while(rung, |rung| !*rung);
        *rung.unwrap_or_else(PoisonError::into_inner) = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_future_is_finished() {
        let runtime = Runtime::start().unwrap();
        let borrowed = String::from("kept");
        let length = runtime.block_on(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::spawn(async {}).await.unwrap();
            borrowed.len()
        });
        assert_eq!(length, 4);
    }

    #[tokio::test]
    async fn a_future_that_gives_way_is_finished_within_a_runtime_too() {
        let runtime = Runtime::start().unwrap();
        runtime.block_on(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        });
        // More than the budget of the task around it.
        runtime.block_on(async {
            for _ in 0..1000 {
                tokio::task::coop::consume_budget().await;
            }
        });
    }

    #[test]
    fn what_is_dropped_may_want_the_runtime() {
        struct Wants;
        impl Drop for Wants {
            fn drop(&mut self) {
                tokio::spawn(async {});
            }
        }
        let runtime = Runtime::start().unwrap();
        runtime.discard(Wants);
        let wants = Wants;
        runtime.block_on(async move { drop(wants) });
    }

    #[test]
    fn a_panic_is_the_callers_and_hurts_nobody_else() {
        let runtime = Runtime::start().unwrap();
        let panics = || {
            runtime.block_on(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                std::panic::panic_any("mine");
            });
        };
        let in_runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"mine"));
        let around = in_runtime();
        let _entered = around.enter();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"mine"));
        assert_eq!(runtime.block_on(async { 1 }), 1);
    }
}
