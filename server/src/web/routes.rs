//! The routes of the pages.

use http::Method;

use super::{
    Visit, account, chosen, generate, jobs, keys, prompt, prompts, public, sessions, vaults,
};
use crate::api::files::send;
use crate::api::{Api, Handler, HandlerResult, Request, Route};
use crate::blobs::urls::THUMBNAILS;
use crate::http::auth::Access;
use crate::http::error::ApiError;

/// Every route of the pages.
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    macro_rules! page {
        ($handler:path) => { Handler::Page(|api, request| Box::pin($handler(api, request))) };
    }
    macro_rules! dashboard {
        ($handler:path) => { Handler::Dashboard(|api, session, request| Box::pin(async move { $handler(Visit::new(api, session, request).await?).await })) };
    }
    use Access::Session;
    use Method as M;
    let root = |name, method, path, access, handler| Route { name, method, path, base: "", access, handler };
    let rows = vec![
        root("signInForm", M::GET, sessions::SIGN_IN, Access::None, page!(sessions::sign_in_form)),
        root("signIn", M::POST, sessions::SIGN_IN, Access::None, page!(sessions::sign_in)),
        root("signOut", M::POST, sessions::SIGN_OUT, Access::None, page!(sessions::sign_out)),

        root("getThumbnail", M::GET, THUMBNAILS, Access::None, page!(thumbnail)),

        root("homePage", M::GET, "/", Session, dashboard!(generate::home)),
        root("promptsPage", M::GET, "/prompts", Session, dashboard!(prompts::list)),
        root("newPromptPage", M::GET, "/prompts/new", Session, dashboard!(prompt::write)),
        root("newPrompt", M::POST, "/prompts/new", Session, dashboard!(prompt::write)),
        root("chosenPrompts", M::POST, "/prompts/chosen", Session, dashboard!(chosen::apply)),
        root("promptPage", M::GET, "/prompts/{promptId}", Session, dashboard!(prompt::show)),
        root("editPromptPage", M::GET, "/prompts/{promptId}/edit", Session, dashboard!(prompt::write)),
        root("editPrompt", M::POST, "/prompts/{promptId}/edit", Session, dashboard!(prompt::write)),
        root("generatePage", M::GET, "/generate", Session, dashboard!(generate::show)),
        root("generate", M::POST, "/generate", Session, dashboard!(generate::show)),
        root("vaultsPage", M::GET, "/vaults", Session, dashboard!(vaults::list)),
        root("newVaultPage", M::GET, "/vaults/new", Session, dashboard!(vaults::write)),
        root("newVault", M::POST, "/vaults/new", Session, dashboard!(vaults::write)),
        root("vaultPage", M::GET, "/vaults/{vaultId}", Session, dashboard!(vaults::show)),
        root("editVaultPage", M::GET, "/vaults/{vaultId}/edit", Session, dashboard!(vaults::write)),
        root("editVault", M::POST, "/vaults/{vaultId}/edit", Session, dashboard!(vaults::write)),
        root("deleteVaultForm", M::POST, "/vaults/{vaultId}/delete", Session, dashboard!(vaults::delete)),
        root("forkVaultForm", M::POST, "/vaults/{vaultId}/fork", Session, dashboard!(public::fork)),
        root("sharedVaultPage", M::GET, "/v/{account}/{slug}", Access::None, page!(public::show)),
        root("jobsPage", M::GET, "/jobs", Session, dashboard!(jobs::list)),
        root("jobPage", M::GET, "/jobs/{clientJobId}", Session, dashboard!(jobs::show)),
        root("retryJob", M::POST, "/jobs/{clientJobId}/retry", Session, dashboard!(generate::show)),
        root("keysPage", M::GET, "/keys", Session, dashboard!(keys::list)),
        root("newKey", M::POST, "/keys", Session, dashboard!(keys::create)),
        root("revokeKey", M::POST, "/keys/{publicId}/revoke", Session, dashboard!(keys::revoke)),
        root("sessionsPage", M::GET, "/sessions", Session, dashboard!(sessions::list)),
        root("endOtherSessions", M::POST, "/sessions/end-others", Session, dashboard!(sessions::end)),
        root("accountPage", M::GET, "/account", Session, dashboard!(account::show)),
        root("renameAccount", M::POST, "/account/name", Session, dashboard!(account::rename)),
        root("exportAccount", M::GET, "/account/export", Session, dashboard!(account::export)),
        root("importAccount", M::POST, "/account/import", Session, dashboard!(account::import)),
        root("deleteAccount", M::POST, "/account/delete", Session, dashboard!(account::delete)),
        root("endSession", M::POST, "/sessions/{sessionId}/end", Session, dashboard!(sessions::end)),
    ];
    #[cfg(feature = "webhooks")]
    let rows = {
        use super::webhooks;
        let more = vec![
            root("webhooksPage", M::GET, "/webhooks", Session, dashboard!(webhooks::list)),
            root("newWebhook", M::POST, "/webhooks", Session, dashboard!(webhooks::create)),
            root("webhookPage", M::GET, "/webhooks/{webhookId}", Session, dashboard!(webhooks::show)),
            root("changeWebhook", M::POST, "/webhooks/{webhookId}/{action}", Session, dashboard!(webhooks::act)),
            root("retryDelivery", M::POST, "/webhooks/{webhookId}/deliveries/{deliveryId}/retry", Session, dashboard!(webhooks::retry)),
        ];
        [rows, more].concat()
    };
    rows
}

async fn thumbnail(api: &Api, request: Request<'_>) -> HandlerResult {
    let name = request.asset().ok_or(ApiError::NotFound)?;
    let small = api.blobs.thumbnail::<ApiError>(&name, request.peer).await?;
    send(api, request, small.ok_or(ApiError::NotFound)?).await
}

#[cfg(test)]
mod tests {
    use crate::serve::routes::tests::assert_each_row_is_found_and_other_methods_are_told_which_there_are;

    #[test]
    fn every_page_is_found_at_its_path_beside_the_endpoints() {
        let all = [crate::serve::routes::table(), super::table()].concat();
        assert_each_row_is_found_and_other_methods_are_told_which_there_are(&all);
    }
}
