//! The clock and the timers: Tokio's, and in WebAssembly those of the browser.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use tokio::time::{
    Instant, Sleep, error::Elapsed, sleep, sleep_until, timeout, timeout_at,
};
#[cfg(target_arch = "wasm32")]
pub(crate) use wasmtimer::{
    std::Instant,
    tokio::{Sleep, error::Elapsed, sleep, sleep_until, timeout, timeout_at},
};
