//! The ninth migration: addresses of this service become names, and nothing else changes.

use const_format::formatcp;
use futures::TryStreamExt;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::super::migrate::{self, LIST};
use super::super::scratch::ScratchDatabase;
use super::super::{DatabaseUrl, Migration, PostgresStore};
use crate::clock::Clock;
use crate::domain::{AssetName, Caller, GenerationRequest, ImageRef, NewJob, Reserved};
use crate::generate::request_digest;
use crate::store::prelude::*;
use crate::store::{Replace, StoreError};

const NAME: &str = "0123456789abcdefghijklmno0.png";
const ORIGIN: &str = "http://127.0.0.1:8080";
const HERE: &str = formatcp!("{ORIGIN}/assets/{NAME}");
/// An address of another deployment, which has the same form.
const ELSEWHERE: &str = formatcp!("https://other.example/assets/{NAME}");
const IMAGES: &str = formatcp!(r#"[{{"url": "{HERE}", "width": 1, "height": 2, "createdAt": 3}}]"#);

/// A request as programs of the eighth version wrote it.
fn request(image: &str) -> GenerationRequest {
    let image = ImageRef::from(image);
    GenerationRequest {
        prompt: HERE.into(),
        image_input: Some(image.clone()),
        image_inputs: vec![ELSEWHERE.into(), image.clone()],
        parameters: json!({"big": 1e16, "imageInput": HERE}).as_object().cloned(),
        reference_image_urls: vec![image],
        ..GenerationRequest::default()
    }
}

/// Creates the job of the database again, with this request.
async fn reserve(store: &PostgresStore, image: &str) -> Result<Reserved, StoreError> {
    let request = request(image);
    let digest = request_digest(&request, None);
    let job = NewJob { client_job_id: "j".into(), digest, request: request.into(), vault: None };
    store.reserve_job(&alice(store).await, job).await
}

async fn alice(store: &PostgresStore) -> Caller {
    store.find_key("k", &[7; 32]).await.unwrap().unwrap().caller()
}

/// A database of the eighth version with such rows, then migrated.
async fn migrated(images: &str) -> (PostgresStore, ScratchDatabase) {
    let database = ScratchDatabase::empty().await.unwrap();
    let mut client = database.client().await;
    migrate::run(&mut client, &LIST[..8], Migration::Auto).await.unwrap();
    let order = serde_json::to_string(&request(HERE)).unwrap();
    // Of the text with addresses.
    let digest = Sha256::digest(format!("[{order},null]"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let rows = format!(
        "INSERT INTO account (name, created_at) VALUES ('alice', now());
         INSERT INTO api_key (account_id, public_id, digest, prompts_write, created_at)
             VALUES (1, 'k', decode(repeat('07', 32), 'hex'), true, now());
         INSERT INTO vault (account_id, name, slug, visibility, cover_image_url, system,
                 prompt_count, created_at, updated_at)
             VALUES (1, 'General', 'general', 'private', '{HERE}', true, 2, now(), now());
         INSERT INTO vault_directory VALUES (1, 1);
         INSERT INTO prompt (account_id, kind, title, body, image_url, reference_media_urls,
                 images, created_at, updated_at)
             VALUES (1, 'text', 'a', '{HERE}', '{HERE}', '{{{ELSEWHERE},{HERE}}}', '{images}',
                     now(), now()),
                 (1, 'text', 'b', 'b', '{ELSEWHERE}', NULL, '[]', now(), now());
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

/// Only a picture of the service tells what its public URL is.
#[tokio::test]
async fn addresses_below_a_public_url_of_the_deployment_become_names_if_it_is_known() {
    for (images, own, written) in
        [(IMAGES, ImageRef::from(NAME), NAME), ("[]", ImageRef::External(HERE.into()), HERE)]
    {
        let (store, _database) = migrated(images).await;
        let (alice, other) = (alice(&store).await, ImageRef::External(ELSEWHERE.into()));
        let is_known = matches!(own, ImageRef::Asset(_));

        let vault = store.vaults(&alice).await.unwrap().remove(0);
        assert_eq!(vault.cover_image, Some(own.clone()));
        let contents = store.contents(&alice, vault.id).await.unwrap();
        let listed: Vec<_> = contents.entries.try_collect().await.unwrap();
        let (second, first) = (&listed[0].prompt, &listed[1].prompt);
        let image = first.images.first().map(|image| (&image.source, image.height));
        assert_eq!(image, is_known.then_some((&own, 2)));
        assert_eq!(&*first.text, HERE, "texts stay");
        let inputs = store.prompt_inputs(&alice, first.id).await.unwrap();
        assert_eq!(inputs.image_url, Some(own.clone()));
        assert_eq!(inputs.reference_media_urls, Some([other.clone(), own.clone()].into()));
        let inputs = store.prompt_inputs(&alice, second.id).await.unwrap();
        assert_eq!((inputs.image_url, inputs.reference_media_urls), (Some(other.clone()), None));

        let stored = store.job(&alice, "j").await.unwrap().request;
        assert_eq!(stored.image_input, Some(own.clone()));
        assert_eq!(stored.image_inputs, [other, own.clone()]);
        assert_eq!(stored.reference_image_urls, [own]);
        let kept = json!({"big": 1e16, "imageInput": HERE});
        assert_eq!(stored.parameters, kept.as_object().cloned(), "parameters are the model's own");
        // The same request again, as a server reads it now, and another one under this name.
        let again = reserve(&store, written).await.unwrap();
        assert!(matches!(again, Reserved::Existing(_)), "{again:?}");
        let different = reserve(&store, "https://a.example/").await;
        assert!(matches!(different, Err(StoreError::JobConflict)), "{different:?}");

        let mut urls = store.add_public_url("https://new.example").await.unwrap();
        urls.sort();
        let all = [ORIGIN, "https://new.example"];
        assert_eq!(urls, all[usize::from(!is_known)..]);
        let known = store.blob_store(b"x", Replace::None).await.unwrap();
        assert_eq!(&*known, if is_known { NAME.as_bytes() } else { b"x" });
    }
}
