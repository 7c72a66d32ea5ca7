//! The list of the caller's prompts: its filters. What holds for every list that
//! comes in pages is in `pages`.

use http::Method;

use crate::client::Error;
use crate::client::call::{Call, Endpoint, sealed::Sealed};
use crate::client::pages::{Paginated, Paging};
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::model::{Page, Prompt, PromptType, VaultId};
use crate::path;

/// `GET /prompts`.
#[derive(Debug, Clone, Default)]
pub struct ListPrompts {
    paging: Paging,
    vault: Option<VaultId>,
    prompt_type: Option<PromptType>,
}

impl<M> Call<ListPrompts, M> {
    /// Only prompts that are in this vault (`PR-15`).
    pub const fn vault(mut self, vault: VaultId) -> Self {
        self.endpoint.vault = Some(vault);
        self
    }

    /// Only prompts of this type (`PR-16`).
    pub fn prompt_type(mut self, prompt_type: PromptType) -> Self {
        self.endpoint.prompt_type = Some(prompt_type);
        self
    }
}

impl Sealed for ListPrompts {}

impl Endpoint for ListPrompts {
    type Output = Page<Prompt>;

    fn request(&self) -> Result<Request, Error> {
        let request = Request::new(Method::GET, path::PROMPTS, path::PROMPTS);
        Ok(self
            .paging
            .on(request)
            .query("vaultId", self.vault)
            .query("type", self.prompt_type.as_ref()))
    }

    fn read(reply: Reply) -> Result<Page<Prompt>, Error> {
        reply.page()
    }
}

impl Paginated for ListPrompts {
    type Item = Prompt;

    fn paging(&mut self) -> &mut Paging {
        &mut self.paging
    }
}
