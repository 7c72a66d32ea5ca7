//! Sign-in, sessions and the keys of an account.

use async_trait::async_trait;

use super::MemoryStore;
use crate::domain::{ApiKeyRecord, Caller, KeyId, NamedKey, SessionRecord};
use crate::store::Result;

#[async_trait]
impl crate::store::SessionStore for MemoryStore {
    async fn create_sign_in_code(&self, _: &str, _: [u8; 32]) -> Result<()> {
        unimplemented()
    }
    async fn sign_in(&self, _: [u8; 32], _: [u8; 32]) -> Result<Option<SessionRecord>> {
        unimplemented()
    }
    async fn find_session(&self, _: [u8; 32]) -> Result<Option<SessionRecord>> {
        unimplemented()
    }
    async fn sessions(&self, _: &Caller) -> Result<Vec<SessionRecord>> {
        unimplemented()
    }
    async fn end_session(&self, _: &Caller, _: KeyId) -> Result<()> {
        unimplemented()
    }
    async fn create_api_key(&self, _: &Caller, _: NamedKey) -> Result<ApiKeyRecord> {
        unimplemented()
    }
    async fn api_keys(&self, _: &Caller) -> Result<Vec<ApiKeyRecord>> {
        unimplemented()
    }
    async fn revoke_api_key(&self, _: &Caller, _: &str) -> Result<ApiKeyRecord> {
        unimplemented()
    }
}

fn unimplemented<T>() -> Result<T> {
    Err(crate::store::StoreError::Internal("not written yet".into()))
}
