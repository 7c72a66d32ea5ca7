//! Nothing: the tests beside it are what this crate is for. They look at the crates
//! of this workspace from outside, as cargo and rustdoc describe them, and hold
//! what `docs/releasing.md` promises.
