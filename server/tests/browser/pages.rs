//! The pages whose looks are checked, and an account with something on each of them.

use promptarium::Visibility;

use crate::browser::Browser;

/// Pages that answer a form or a key.
const NEW_KEY: &str = "key-new";
const REFUSED: &str = "prompt-refused";
const REFUSED_GENERATION: &str = "generate-refused";
const QUESTION: &str = "vault-delete";
pub(crate) const SHORTCUTS: &str = "shortcuts";

/// Pages by the name of their screenshot. `{prompt}` and others are the data of [`fill`].
const PAGES: [(&str, &str); 37] = [
    ("overview", ""),
    ("prompts", "prompts"),
    ("prompts-list", "prompts?view=list"),
    ("prompts-of-vault", "prompts?vaultId={vault}"),
    ("prompts-found", "prompts?q=harbour&type=image"),
    ("prompts-not-found", "prompts?vaultId={empty}"),
    ("prompt", "prompts/{prompt}"),
    ("prompt-long", "prompts/{long}"),
    ("prompt-with-picture", "prompts/{picture}"),
    ("prompt-with-animation", "prompts/{animation}"),
    ("prompt-new", "prompts/new"),
    ("prompt-edit", "prompts/{prompt}/edit"),
    ("prompt-deleted", "prompts?done=delete"),
    ("generate", "generate?prompt={picture}"),
    ("vaults", "vaults"),
    ("vault", "vaults/{vault}"),
    ("vault-empty", "vaults/{empty}"),
    ("vault-new", "vaults/new"),
    ("vault-edit", "vaults/{vault}/edit"),
    ("vault-shared", "v/kingfisher/shared"),
    ("account", "account"),
    ("jobs", "jobs"),
    ("job-running", "jobs/running"),
    ("job-failed", "jobs/failed"),
    ("job-completed", "jobs/completed"),
    ("keys", "keys"),
    ("webhooks", "webhooks"),
    ("webhook", "webhooks/{webhook}"),
    ("sessions", "sessions"),
    ("not-found", "prompts/999999"),
    ("not-valid", "prompts?type=nothing"),
    ("sign-in", "sign-in"),
    (NEW_KEY, "keys"),
    (REFUSED, "prompts/new"),
    (REFUSED_GENERATION, "generate"),
    (QUESTION, "vaults/{vault}"),
    (SHORTCUTS, "prompts"),
];

/// Pages of an account that has nothing.
pub(crate) const EMPTY: [(&str, &str); 5] = [
    ("empty-overview", ""),
    ("empty-prompts", "prompts"),
    ("empty-vaults", "vaults"),
    ("empty-jobs", "jobs"),
    ("empty-webhooks", "webhooks"),
];

/// Fills an account with long texts and words; gives the addresses of the pages.
pub(crate) async fn fill(browser: &Browser) -> Vec<(&'static str, String)> {
    let client = browser.site.client();
    let word = "Donaudampfschifffahrtsgesellschaftskapitaen".repeat(3);
    let vault = client.vaults().create(format!("Vault of {}", &word[..41])).await.unwrap();
    let empty = client.vaults().create("Empty").await.unwrap();
    let shared = client.vaults().create("Shared").visibility(Visibility::Public).await.unwrap();
    let title = format!("Harbour {}", &word[..100]);
    let creating =
        client.prompts().create(&*title, format!("{}{word}", "A long text. ".repeat(40)));
    let prompt = creating.vault(vault.id).await.unwrap();
    let long = client.prompts().create("Long", "A long text. ".repeat(1_150)).await.unwrap();
    // Nobody listens there, so that its deliveries fail.
    let webhook = format!("https://127.0.0.1:1/{word}");
    let webhook = client.webhooks().create(webhook).description(&*word).await.unwrap();
    let generations = client.generations();
    let painting = generations.create("local/plasma", "A harbour before sunrise");
    let painting = painting.vault(shared.id).client_job_id("completed").await.unwrap();
    let painted = generations.wait(painting).await.unwrap();
    let moving = generations.create("local/plasma-video", "Waves").video();
    let moving = generations.wait(moving.await.unwrap()).await.unwrap();
    let failing = generations.create("local/fail", format!("Fails {word}"));
    let failing = failing.client_job_id("failed").await.unwrap();
    generations.wait(failing).await.unwrap_err();
    // It runs as long as the test.
    let running = generations.create("local/slow", format!("Runs {word}"));
    running.client_job_id("running").parameter("seconds", 600).await.unwrap();
    for number in 0..60 {
        client.prompts().create(format!("Prompt {number}"), "text").await.unwrap();
    }
    let names = [
        ("{prompt}", prompt.id.to_string()),
        ("{picture}", painted.status.prompt_id.unwrap().to_string()),
        ("{animation}", moving.status.prompt_id.unwrap().to_string()),
        ("{long}", long.id.to_string()),
        ("{vault}", vault.id.to_string()),
        ("{empty}", empty.id.to_string()),
        ("{webhook}", webhook.id.to_string()),
    ];
    let address =
        |page: &str| names.iter().fold(page.to_owned(), |page, (name, id)| page.replace(name, id));
    PAGES.iter().map(|(name, page)| (*name, address(page))).collect()
}

/// Opens a page of this name.
pub(crate) async fn open(browser: &mut Browser, name: &str, address: &str) {
    browser.open(address).await;
    match name {
        NEW_KEY => browser.send(&[("name", "laptop")], "Create key", "Copy it now").await,
        REFUSED => {
            browser.choose("promptType", "video").await;
            let fields = [("title", "Title"), ("prompt", "Text")];
            browser.send(&fields, "Save prompt", "Model is required for").await;
        }
        REFUSED_GENERATION => {
            let fields = [("prompt", "Text"), ("modelId", "local/refuse")];
            browser.send(&fields, "Generate", "refused the generation").await;
        }
        QUESTION => drop(browser.on("//main//details", "e => e.open = true").await),
        SHORTCUTS => {
            browser.press("Keyboard shortcuts").await;
            browser.find("//dialog[@open]").await;
        }
        _ => {}
    }
}
