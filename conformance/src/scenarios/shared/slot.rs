//! The slot of an upload and the calls on its two addresses, for all scenarios with pictures. The
//! pictures are real, as a storage may decode them (S-44).

use bytes::Bytes;
use futures::stream;
use http::header::LOCATION;
use tokio::pin;
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

use super::prelude::*;

/// Time limit for an image to be live (S-45).
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: usize = 5;
const PAUSE: Duration = Duration::from_secs(3);

/// The permission to upload one image. A scenario may replace parts of it.
#[derive(Clone)]
pub struct Slot {
    pub case: Case,
    pub upload_url: String,
    pub token: String,
    pub url: String,
    pub content_type: String,
}

pub async fn uploaded_urls(case: &Case, count: usize) -> Result<Vec<String>> {
    let bytes = |number| png([number as u8, 60, 90]);
    let upload = async |n| Ok(Slot::used(case, "image/png", &bytes(n)).await?.url);
    try_join_all((0..count).map(upload)).await
}

pub async fn ask(case: &Case, content_type: &str, size: usize) -> Result<ApiResponse> {
    case.wire().post("/uploads/images", json!({ "contentType": content_type, "size": size })).await
}

impl Slot {
    pub async fn for_png(case: &Case, size: usize) -> Result<Self> {
        Self::of(case, "image/png", size).await
    }

    pub async fn of(case: &Case, content_type: &str, size: usize) -> Result<Self> {
        let reply = ask(case, content_type, size).await?;
        Ok(Self {
            case: case.clone(),
            upload_url: reply.string("/data/uploadUrl")?.to_owned(),
            token: reply.string("/data/token")?.to_owned(),
            url: reply.string("/data/url")?.to_owned(),
            content_type: content_type.to_owned(),
        })
    }

    pub async fn used(case: &Case, kind: &str, bytes: &[u8]) -> Result<Self> {
        let slot = Self::of(case, kind, bytes.len()).await?;
        slot.upload(bytes).await?;
        Ok(slot)
    }

    pub fn bare(&self) -> Call {
        self.case.storage(Method::PUT, &self.upload_url)
    }

    pub fn authorized(&self) -> Call {
        self.bare().header("authorization", format!("Bearer {}", self.token))
    }

    pub fn put(&self, bytes: &[u8]) -> Call {
        self.authorized().body(&self.content_type, bytes)
    }

    /// The same in pieces and without `Content-Length`.
    pub fn put_in_pieces(&self, bytes: &[u8]) -> Call {
        let size = bytes.len().div_ceil(2).clamp(1, 9_999);
        let pieces: Vec<_> = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
        self.authorized().header("content-type", &self.content_type).pieces(stream::iter(pieces))
    }

    /// Sends the bytes with a pause in their middle until `meanwhile` is done, but no longer than
    /// [`PAUSE`], as a server may keep other requests waiting. The results of both.
    pub async fn put_with_pause<T>(
        &self,
        bytes: &[u8],
        meanwhile: impl Future<Output = T>,
    ) -> (Result<ApiResponse>, T) {
        let (start, rest) = bytes.split_at(bytes.len() / 2);
        let (sender, mut pieces) = mpsc::channel(1);
        let call = self.authorized().header("content-type", &self.content_type);
        let call = call.header("content-length", bytes.len().to_string());
        let call = call.pieces(stream::poll_fn(move |context| pieces.poll_recv(context)));
        let feed = async move {
            // An error means that the server has refused the upload already.
            let _ = sender.send(Bytes::copy_from_slice(start)).await;
            // There is room for the rest once the first half is on its way.
            let room = sender.reserve().await;
            pin!(meanwhile);
            let early = timeout(self.case.scaled(PAUSE), &mut meanwhile).await;
            let _ = room.map(|room| room.send(Bytes::copy_from_slice(rest)));
            drop(sender);
            if let Ok(result) = early { result } else { meanwhile.await }
        };
        join(call.send(), feed).await
    }

    pub async fn upload(&self, bytes: &[u8]) -> Result<ApiResponse> {
        let reply = self.put(bytes).send().await?;
        reply.ensure(reply.is_success(), "the upload to succeed", in_words(&reply))?;
        Ok(reply)
    }

    /// A response repeats neither the token nor the signature of the upload address.
    pub fn is_not_in(&self, reply: &ApiResponse) -> Result {
        let text = String::from_utf8_lossy(reply.body());
        let signature = self.upload_url.split_once('?').unwrap_or_default().1;
        let shown = text.contains(&self.token) || text.contains(signature);
        reply.ensure(!shown, "an error without token and signature", "one with them").map(drop)
    }

    /// The image at `url` is of the upload that was taken, and not one of the others.
    pub async fn shows(&self, taken: &[u8], others: &[&[u8]]) -> Result {
        let reply = self.is_live().await?;
        let body: &[u8] = reply.body();
        let other = others.contains(&body);
        reply.ensure(!other, "the image of the upload that was taken", "another one's")?;
        skip_unless(body == taken, "the storage changes images, so they all look the same (S-45)")
    }

    /// The image at `url` is not a part of what was uploaded; a storage may have it in other bytes.
    pub async fn shows_whole(&self, bytes: &[u8]) -> Result {
        let reply = self.is_live().await?;
        let body: &[u8] = reply.body();
        let is_part = body.len() < bytes.len() && bytes.starts_with(body);
        let expected = format!("the {} bytes that were uploaded, or another form", bytes.len());
        reply.ensure(!is_part, expected, format!("the first {} of them", body.len()))?;
        let start = &body[..body.len().min(12)];
        let is_picture = body == bytes || is_picture(start);
        reply.ensure(is_picture, "a picture at url", start.escape_ascii()).map(drop)
    }

    /// Nothing of these bytes, which were refused, is at `url`.
    pub async fn hides(&self, bytes: &[u8]) -> Result {
        let reply = self.look().await?;
        let body = reply.body();
        let is_part = bytes.starts_with(body) || body.starts_with(bytes);
        let shown = reply.is_success() && body.is_empty() == bytes.is_empty() && is_part;
        reply.ensure(!shown, "nothing of a refused upload at url", in_words(&reply)).map(drop)
    }

    pub async fn refuses(&self, what: &str, call: Call, sent: &[u8]) -> Result {
        call.send().await?.is_client_error(what)?;
        self.hides(sent).await
    }

    /// What is at `url`, behind redirects.
    pub async fn fetch(&self) -> Result<ApiResponse> {
        let mut url = self.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let reply = self.case.storage(Method::GET, &url).send().await?;
            let Some(next) = redirect(&url, &reply) else { return Ok(reply) };
            url = next;
        }
        Err(Failure::failed(format!("at most {REDIRECTS_MAX} redirects"), "more of them"))
    }

    /// The same, and with the key of the account where the target itself asks for one (S-45).
    async fn look(&self) -> Result<ApiResponse> {
        let reply = self.fetch().await?;
        if !matches!(reply.status_code(), 401 | 403) || !self.is_of_target(&self.url) {
            return Ok(reply);
        }
        let call = self.case.storage(Method::GET, &self.url);
        call.header("authorization", main_bearer(&self.case)).send().await
    }

    pub fn is_of_target(&self, address: &str) -> bool {
        let root = self.case.target().config.base_url.origin();
        Url::parse(address).is_ok_and(|url| url.origin() == root)
    }

    /// The image is at `url`, now or soon, for whoever may read it and in whatever bytes (S-45).
    pub async fn is_live(&self) -> Result<ApiResponse> {
        let live = |reply: &ApiResponse| reply.status_code() == 200 && !reply.body().is_empty();
        let look = || async { Ok(Some(self.look().await?).filter(live)) };
        if let Ok(reply) = self.case.until("the image at its url", TIMEOUT, look).await {
            return Ok(reply);
        }
        // The last response says more than a timeout.
        let reply = self.look().await?;
        let visible = !matches!(reply.status_code(), 401 | 403) || self.is_of_target(&self.url);
        skip_unless(visible, "an API key is not enough to see the image at url")?;
        reply.ensure(live(&reply), "status 200 and an image", in_words(&reply))?;
        Ok(reply)
    }
}

/// Whether a file of any usual format begins so: a storage may convert pictures.
fn is_picture(start: &[u8]) -> bool {
    let starts: [&[u8]; 8] =
        [b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"<svg", b"\xff\x0a", b"II*\0"];
    starts.iter().any(|known| start.starts_with(known)) || start.get(4..8) == Some(b"ftyp")
}

fn in_words(reply: &ApiResponse) -> String {
    format!("status {} and {} bytes", reply.status_code(), reply.body().len())
}

fn redirect(from: &str, reply: &ApiResponse) -> Option<String> {
    let to = match reply.status_code() {
        301 | 302 | 303 | 307 | 308 => reply.headers().get(LOCATION)?.to_str().ok()?,
        _ => return None,
    };
    Some(Url::parse(from).ok()?.join(to).ok()?.into())
}
