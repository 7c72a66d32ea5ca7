//! A provider over HTTP that speaks the queue protocol of fal.ai.
//!
//! A request is posted once to the URL of its model. The response has an id and the URLs of
//! status and result. Outputs are downloaded from the URLs in the result.
//! No HTTP request is repeated here: a submission must not be, and the worker repeats the others.

#[cfg(feature = "provider-queue")]
mod client;
pub(crate) mod fields;
#[cfg(feature = "provider-queue")]
mod protocol;
#[cfg(test)]
#[cfg(feature = "provider-queue")]
mod tests;

use std::sync::Arc;

use http::HeaderValue;
use url::Url;

use self::fields::ModelFields;
use super::Provider;
use crate::limits::OUTPUT_MAX_MIB;
use crate::limits::product::QUEUE_RESULTS_BYTES;
use crate::quota::Quota;
use crate::store::Cause;

const SCHEME: &str = "Key ";

/// A provider, its key, and the limits of requests to it.
#[derive(Clone, Debug)]
pub(crate) struct QueueSetting {
    url: Url,
    /// With the key. It is marked as sensitive, so `Debug` does not show it.
    authorization: HeaderValue,
    /// Whether outputs may be at addresses that are neither public nor the provider's own.
    pub(crate) private_outputs: bool,
    /// What families of models take, before the built-in table.
    pub(crate) model_fields: ModelFields,
    /// MiB of the largest output that is downloaded.
    pub(crate) output_max_mib: usize,
    /// For the memory of results.
    pub(crate) results: Quota,
}

impl QueueSetting {
    /// Ids of models are appended to `url`, for example `https://queue.fal.run`. The error is the
    /// name of the wrong one and what is wrong, without the key.
    pub(crate) fn new(url: &str, key: &str) -> Result<Self, (&'static str, &'static str)> {
        let text = "is not an http or https address without user, query and fragment";
        let is_plain = |url: &Url| {
            let has_no_more = url.query().is_none() && url.fragment().is_none();
            matches!(url.scheme(), "http" | "https") && has_no_user(url) && has_no_more
        };
        let url = Url::parse(url).ok().filter(is_plain).ok_or(("provider_url", text))?;
        let is_visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        let header = HeaderValue::try_from(format!("{SCHEME}{key}")).ok().filter(|_| is_visible);
        let text = "holds a key that is empty or has characters that no header can hold";
        let mut authorization = header.ok_or(("provider_key", text))?;
        authorization.set_sensitive(true);
        let (what, most) = ("the memory for results of the provider", QUEUE_RESULTS_BYTES);
        Ok(Self {
            url,
            authorization,
            private_outputs: false,
            model_fields: ModelFields::new(),
            output_max_mib: OUTPUT_MAX_MIB,
            results: Quota::new("provider_results", what, most, most),
        })
    }

    pub(crate) fn open(self) -> Result<Arc<dyn Provider>, Cause> {
        #[cfg(feature = "provider-queue")]
        return Ok(Arc::new(client::QueueProvider::new(self)?));
        #[cfg(not(feature = "provider-queue"))]
        Err("this program was built without the feature `provider-queue`".into())
    }
}

fn has_no_user(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}
