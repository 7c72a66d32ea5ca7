//! The source of the models, for tests that must not forget one.

use std::fs;
use std::path::Path;

/// The text of each file of `src/model`, `src/model.rs` included.
pub(super) fn of_models() -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = vec![fs::read_to_string(source.join("model.rs")).unwrap()];
    collect(&source.join("model"), &mut texts);
    assert!(texts.len() >= 8, "the models are not where this test looks");
    texts
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, texts);
        } else if !path.ends_with("webhook.rs") {
            // The models of webhooks have a feature, and tests beside those of their calls.
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}
