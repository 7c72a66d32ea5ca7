//! Internals for the tests and benchmarks of this repository.
//!
//! Semantic versioning does not cover them. Without the feature `test-support` they are
//! private.

pub use crate::api::health::Readiness;
pub use crate::api::openapi::document as openapi_document;
pub use crate::blobs::{BlobSetting, Blobs};
pub use crate::config::{SeedKey, ServiceConfig};
pub use crate::domain::{BASE_PATH, ModelNamespace, PublicUrl, Vendor};
pub use crate::generate::ProviderSetting;
pub use crate::http::body::{BODY_BYTES_MAX, BODY_SECONDS_MAX};
pub use crate::http::response::{Response, ResponseBody, ResponseBodyError};
pub use crate::serve::listener::{HttpService, Limits, serve};
pub use crate::serve::routes::{Routes, table as route_table};
pub use crate::serve::service::{ApiService, check_host};
pub use crate::start::{Service, ServiceParts, StoreKind, start};
pub use crate::store::memory::MemoryStore;
pub use crate::store::postgres::scratch::ScratchDatabase;
pub use crate::store::postgres::{DatabaseUrl, Migration, PostgresStore};
