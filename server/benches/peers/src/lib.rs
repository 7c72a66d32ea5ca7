//! What the programs share: their arguments, and the key of a request.

use std::error::Error;

use http::HeaderMap;
use sha2::{Digest as _, Sha256};

pub type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The address to listen on, and the URL of the database; programs without one ignore it.
pub fn arguments() -> Result<(String, String)> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments.next().ok_or("usage: PROGRAM HOST:PORT [DATABASE_URL]")?;
    Ok((listen, arguments.next().unwrap_or_default()))
}

/// The public id and the digest of the key of a request.
pub fn key(headers: &HeaderMap) -> Result<(&str, Vec<u8>)> {
    let key = headers.get("authorization").ok_or("no key")?.to_str()?;
    let key = key.strip_prefix("Bearer ").ok_or("no bearer token")?;
    let public_id = key.split('_').nth(2).ok_or("no public id")?;
    Ok((public_id, Sha256::digest(key).to_vec()))
}
