//! The document says what is served, all of it, and says it in the right form.

mod drift;
mod form;
mod limits;
mod walk;

use serde_json::Value;

use super::{Described, document};
use crate::domain::ModelNamespace;

/// The document, for models below `local/`.
fn described() -> Value {
    let model_namespace = &ModelNamespace::new("local").unwrap();
    document(Described { public: None, model_namespace })
}
