//! The ninth migration: addresses of this service become names, and nothing else changes.

use futures::TryStreamExt;
use serde_json::json;
use tempfile::TempDir;

use super::super::migrate::{self, LIST};
use super::super::scratch::ScratchDatabase;
use super::super::{DatabaseUrl, Migration, PostgresStore};
use crate::blobs::{BlobSetting, Blobs};
use crate::clock::Clock;
use crate::domain::{AssetName, GenerationRequest, ImageRef, NewJob, Reserved};
use crate::generate::request_digest;
use crate::store::StoreError;
use crate::store::prelude::*;

const NAME: &str = "0123456789abcdefghijklmno0.png";
const HERE: &str = "http://127.0.0.1:8080";

fn here() -> String {
    format!("{HERE}/assets/{NAME}")
}

/// An address of another deployment, which has the same form.
fn elsewhere() -> String {
    format!("https://other.example/assets/{NAME}")
}

/// A request as programs of the eighth version wrote it.
fn request(image: &str) -> String {
    let (image, other) = (json!(image), json!(elsewhere()));
    let order = format!(
        r#"{{"modelId":"m","prompt":"{0}","kind":"image","negativePrompt":null,"imageInput":{image},"imageInputs":[{other},{image}],"aspectRatio":"1:1","batchCount":1,"parameters":{{"big":1e16,"imageInput":"{0}"}},"referenceImageUrls":[{image}],"imageEditEndpointId":null}}"#,
        here()
    );
    // Numbers as serde_json writes them.
    serde_json::to_string(&serde_json::from_str::<GenerationRequest>(&order).unwrap()).unwrap()
}

fn job(name: &str, request: &str) -> NewJob {
    let request: GenerationRequest = serde_json::from_str(request).unwrap();
    let digest = request_digest(&request, None);
    NewJob { client_job_id: name.into(), digest, request: request.into(), vault: None }
}

/// A database of the eighth version with such rows, then migrated.
async fn migrated(images: &str) -> (PostgresStore, ScratchDatabase) {
    let database = ScratchDatabase::empty().await.unwrap();
    let mut client = database.client().await;
    migrate::run(&mut client, &LIST[..8], Migration::Auto).await.unwrap();
    let (here, elsewhere, order) = (here(), elsewhere(), request(&here()));
    let digest = request_digest_of(&order);
    let rows = format!(
        "INSERT INTO account (name, created_at) VALUES ('alice', now());
         INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
             VALUES (1, 'k', decode(repeat('07', 32), 'hex'), true, now());
         INSERT INTO vault (account_id, name, slug, visibility, cover_image_url, system,
                 prompt_count, created_at, updated_at)
             VALUES (1, 'General', 'general', 'private', '{here}', true, 2, now(), now());
         INSERT INTO vault_directory VALUES (1, 1);
         INSERT INTO prompt (account_id, kind, title, body, image_url, reference_media_urls,
                 images, created_at, updated_at)
             VALUES (1, 'text', 'a', '{here}', '{here}', '{{{elsewhere},{here}}}', '{images}',
                     now(), now()),
                 (1, 'text', 'b', 'b', '{elsewhere}', NULL, '[]', now(), now());
         INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
             VALUES (1, 1, 1, 'text'), (1, 1, 2, 'text');
         INSERT INTO job (account_id, name_digest, client_job_id, request_digest, job_order,
                 vault_id, state, request_id, memo, claimable_at, created_at, updated_at)
             VALUES (1, sha256('j'), 'j', '\\x{digest}', '{order}', 1, 'queued', 'r', 'm', now(),
                     now(), now());
         INSERT INTO due_job VALUES (1, sha256('j'), false, now());"
    );
    client.batch_execute(&rows).await.unwrap();
    migrate::run(&mut client, LIST, Migration::Auto).await.unwrap();
    let url = DatabaseUrl::parse(&database.url()).unwrap();
    (PostgresStore::open(&url, Migration::Off, Clock::System).await.unwrap(), database)
}

/// The digest that programs of the eighth version stored: of the text with addresses.
fn request_digest_of(order: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let digest = Sha256::digest(format!("[{order},null]"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn addresses_below_a_public_url_of_the_deployment_become_names() {
    let image = json!({"url": here(), "width": 1, "height": 2, "createdAt": 3});
    let (store, _database) = migrated(&json!([image]).to_string()).await;
    let alice = store.find_key("k", &[7; 32]).await.unwrap().unwrap().caller();
    let (asset, other) = (ImageRef::from(NAME), ImageRef::External((*elsewhere()).into()));
    assert!(matches!(asset, ImageRef::Asset(_)));

    let vault = store.vaults(&alice).await.unwrap().remove(0);
    assert_eq!(vault.cover_image, Some(asset.clone()));
    let listed: Vec<_> =
        store.contents(&alice, vault.id).await.unwrap().try_collect().await.unwrap();
    let (second, first) = (&listed[0].prompt, &listed[1].prompt);
    assert_eq!((&first.images[0].source, first.images[0].height), (&asset, 2));
    assert_eq!(*first.text, *here(), "texts stay");
    let inputs = store.prompt_inputs(&alice, first.id).await.unwrap();
    assert_eq!(inputs.image_url, Some(asset.clone()));
    assert_eq!(inputs.reference_media_urls.as_deref(), Some(&[other.clone(), asset.clone()][..]));
    let inputs = store.prompt_inputs(&alice, second.id).await.unwrap();
    assert_eq!((inputs.image_url, inputs.reference_media_urls), (Some(other.clone()), None));

    let stored = store.job(&alice, "j").await.unwrap().request;
    assert_eq!(stored.image_input, Some(asset.clone()));
    assert_eq!(stored.image_inputs, [other, asset.clone()]);
    assert_eq!(stored.reference_image_urls, [asset]);
    let kept = json!({"big": 1e16, "imageInput": here()});
    assert_eq!(stored.parameters, kept.as_object().cloned(), "parameters are the model's own");
    // The same request again, as a server reads it now, and another one under this name.
    let again = store.reserve_job(&alice, job("j", &request(NAME))).await.unwrap();
    assert!(matches!(again, Reserved::Existing(_)), "{again:?}");
    let different = store.reserve_job(&alice, job("j", &request("https://a.example/"))).await;
    assert!(matches!(different, Err(StoreError::JobConflict)), "{different:?}");

    let mut urls = store.add_public_url("https://new.example").await.unwrap();
    urls.sort();
    assert_eq!(urls, [HERE, "https://new.example"]);
    let known = store.blob_store(b"x", None).await.unwrap();
    assert_eq!(AssetName::parse(std::str::from_utf8(&known).unwrap()), AssetName::parse(NAME));
}

#[tokio::test]
async fn the_first_start_afterwards_needs_the_folder_with_the_files() {
    let image = json!({"url": here(), "width": 1, "height": 2, "createdAt": 3});
    let (store, _database) = migrated(&json!([image]).to_string()).await;
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let open = async |at: usize| {
        let blobs = Blobs::open(&BlobSetting::Folder(folders[at].path().into())).unwrap();
        blobs.verify().await.unwrap();
        blobs
    };
    open(0).await.put_new(&AssetName::parse(NAME).unwrap(), "x".into()).await.unwrap();
    let refused = open(1).await.check_mark(&store).await.unwrap_err().to_string();
    assert!(refused.contains(folders[1].path().to_str().unwrap()), "{refused}");
    open(0).await.check_mark(&store).await.unwrap();
    // From now on the mark counts, not the file.
    open(1).await.put_new(&AssetName::parse(NAME).unwrap(), "x".into()).await.unwrap();
    let refused = open(1).await.check_mark(&store).await.unwrap_err().to_string();
    for folder in &folders {
        assert!(refused.contains(folder.path().to_str().unwrap()), "{refused}");
    }
    open(0).await.check_mark(&store).await.unwrap();
}

#[tokio::test]
async fn without_a_picture_of_the_service_no_address_is_known_to_be_its_own() {
    let (store, _database) = migrated("[]").await;
    let alice = store.find_key("k", &[7; 32]).await.unwrap().unwrap().caller();
    let stored = store.job(&alice, "j").await.unwrap().request;
    assert_eq!(stored.image_input, Some(ImageRef::External((*here()).into())));
    assert_eq!(store.add_public_url(HERE).await.unwrap(), [HERE]);
    assert_eq!(*store.blob_store(b"x", None).await.unwrap(), *b"x");
    let again = store.reserve_job(&alice, job("j", &request(&here()))).await.unwrap();
    assert!(matches!(again, Reserved::Existing(_)), "{again:?}");
}
