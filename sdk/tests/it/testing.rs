//! The feature `testing`, as a caller's own tests use it.

mod explore;
mod fixtures;
mod scripts;
mod service;
mod storage;
