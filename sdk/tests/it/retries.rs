//! Retries: which failures, after which delay, within which budget.

mod budget;
mod delays;
mod rate_limits;
mod retry_after;
mod table;
