//! The service in memory behaves like the real one, as far as the client can tell.

use promptarium::testing::{FakeService, fixture};
use promptarium::{Client, GenerationState, PromptId, PromptType, VaultId, Visibility};

fn service() -> (FakeService, Client) {
    let service = FakeService::new();
    let client = service.client();
    (service, client)
}

#[tokio::test]
async fn prompts_are_created_changed_and_deleted() {
    let (service, client) = service();
    let vault = client.vaults().create("Harbours").await.unwrap().id;
    let prompts = client.prompts();
    let created = prompts.create("Dusk", "A harbour").image("local/plasma").vault(vault).await;
    let id = created.unwrap().id;
    let changed = prompts.update(id).title("Dawn").platform("local").await.unwrap();
    assert_eq!((changed.title.as_str(), changed.text.as_str()), ("Dawn", "A harbour"));
    assert_eq!(prompts.save(id, VaultId::new(1)).await.unwrap().vault_ids, [vault, 1.into()]);
    assert_eq!(prompts.get(id).await.unwrap(), service.prompts()[0]);
    assert!(prompts.delete(id).await.unwrap().deleted);
    assert!(prompts.get_opt(id).await.unwrap().is_none());
    assert!(prompts.save(id, vault).await.unwrap_err().is_not_found());
    assert_eq!(client.vaults().get(vault).await.unwrap().prompt_count, 0);
}

#[tokio::test]
async fn a_list_has_pages_and_filters() {
    let (_, client) = service();
    let vault = client.vaults().create("Harbours").await.unwrap().id;
    for number in 0..5 {
        let create = client.prompts().create(number.to_string(), "A harbour");
        let create = if number == 2 { create.image("local/plasma") } else { create };
        create.set_vault((number > 2).then_some(vault)).await.unwrap();
    }
    let list = || client.prompts().list().page_size(2);
    let titles = async |list: promptarium::request::ListPrompts| {
        let prompts = list.collect().await.unwrap();
        prompts.into_iter().map(|prompt| prompt.title).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(titles(list()).await, "4 3 2 1 0");
    assert_eq!(titles(list().vault(vault)).await, "4 3");
    assert_eq!(titles(list().prompt_type(PromptType::Image)).await, "2");
    assert_eq!(titles(list().search("HARB 3")).await, "3");
    assert_eq!(list().page().await.unwrap().items.len(), 2);
    assert!(list().page_size(101).await.unwrap_err().is_invalid());
}

#[tokio::test]
async fn vaults_are_created_changed_forked_and_deleted() {
    let (service, client) = service();
    let vaults = client.vaults();
    let id = vaults.create("Harbours").description("Boats").await.unwrap().id;
    client.prompts().create("Dusk", "A harbour").vault(id).await.unwrap();
    assert!(vaults.fork(id).await.unwrap_err().is_not_found());
    let update = vaults.update(id).visibility(Visibility::Public).clear_description();
    assert_eq!(update.await.unwrap().description, None);
    let fork = vaults.fork(id).await.unwrap();
    assert_eq!((fork.prompt_count, fork.visibility), (1, Visibility::Private));
    assert!(vaults.delete(id).await.unwrap().deleted);
    let names: Vec<_> = vaults.list().await.unwrap().into_iter().map(|vault| vault.name).collect();
    assert_eq!(names, ["Harbours", "General"]);
    assert_eq!(service.vaults().len(), 2);
    let [original, copy] = &service.prompts()[..] else { panic!("{service:?}") };
    assert_eq!((&original.vault_ids[..], &copy.vault_ids[..]), (&[][..], &[fork.id][..]));
    assert!(vaults.create("").await.unwrap_err().is_invalid());
}

#[tokio::test]
async fn prompts_in_a_vault_are_added_pinned_moved_and_removed() {
    let (service, client) = service();
    let from = client.vaults().create("From").await.unwrap().id;
    let to = client.vaults().create("To").await.unwrap().id;
    let mut ids = Vec::new();
    for title in ["a", "b", "c"] {
        ids.push(client.prompts().create(title, "A harbour").await.unwrap().id);
    }
    let contents = client.vault(from);
    let added = contents.add(ids.clone()).await.unwrap();
    assert_eq!((added.added, added.prompt_count), (3, 3));
    assert_eq!(contents.add([ids[0]]).await.unwrap().added, 0);
    assert!(contents.add([PromptId::new(99)]).await.unwrap_err().is_not_found());
    let member = contents.find(ids[0]).await.unwrap().unwrap().vault_prompt_id;
    assert!(contents.pin(member).await.unwrap().is_pinned);
    assert!(contents.pin(member).await.unwrap().is_pinned);
    let titles = |vault| {
        let prompts = service.vault_prompts(vault).into_iter();
        prompts.map(|member| member.prompt.title).collect::<String>()
    };
    assert_eq!(titles(from), "acb");
    assert!(!contents.unpin(member).await.unwrap().is_pinned);
    assert_eq!(titles(from), "cba");
    let moved = contents.move_to(member, to).await.unwrap();
    assert!(moved.vault_prompt_id != member && moved.prompt_id == ids[0]);
    assert_eq!((titles(from).as_str(), titles(to).as_str()), ("cb", "a"));
    client.vault(to).remove(moved.vault_prompt_id).await.unwrap();
    assert_eq!(titles(to), "");
    assert!(contents.remove(member).await.unwrap_err().is_not_found());
}

#[tokio::test(start_paused = true)]
async fn a_generation_completes_with_output_in_its_vault() {
    let (_, client) = service();
    let vault = client.vaults().create("Harbours").await.unwrap().id;
    let create = client.generations().create("local/plasma", "A harbour").vault(vault);
    let mut states = Vec::new();
    let wait = create.batch_count(2).and_wait();
    let finished = wait.on_change(|status| states.push(status.state.clone())).await.unwrap();
    use GenerationState::{Completed, InProgress, Queued};
    assert_eq!(states, [Queued, InProgress, Completed]);
    assert_eq!(finished.prompts[0].vault_ids, [vault]);
    let images: Vec<_> = finished.images().collect();
    assert_eq!(images.len(), 2);
    let asset = client.assets().download(&images[1].url).await.unwrap();
    assert_eq!(asset.bytes, fixture::png());
    let error = client.generations().status("unknown").await.unwrap_err();
    assert!(error.is_not_found());
}

#[tokio::test]
async fn a_job_id_does_not_make_a_generation_idempotent() {
    let (service, client) = service();
    let create = client.generations().create("local/plasma", "A harbour").client_job_id("a/b");
    for _ in 0..2 {
        create.clone().await.unwrap();
    }
    assert_eq!(service.generations().len(), 2);
    let status = client.generations().status("a/b").await.unwrap();
    assert_eq!(status.state, GenerationState::Queued);
}

#[tokio::test]
async fn uploads_are_kept() {
    let (service, client) = service();
    let image = client.uploads().image(fixture::png()).await.unwrap();
    assert_eq!(service.uploads(), [fixture::asset()]);
    assert_eq!(client.assets().download(&image.url).await.unwrap(), fixture::asset());
    let paths: Vec<_> = service.requests().iter().map(ToString::to_string).collect();
    assert_eq!(paths[0], "POST /uploads/images");
}

#[tokio::test]
async fn a_path_that_does_not_exist_is_not_found() {
    let (_, client) = service();
    let error = client.request(http::Method::GET, "/models").send().await.unwrap_err();
    assert!(error.is_not_found(), "{error:?}");
}
