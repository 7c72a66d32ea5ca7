//! Pictures and videos as parts of pages.

use maud::{Markup, html};
use promptarium::PromptId;

use super::parts::{shortened, typed};
use super::visit::Visit;
use crate::api::Api;
use crate::domain::{
    AssetName, GenerationRequest, ImageRef, JobRecord, JobState, Media, PromptImage, PromptRecord,
};
use crate::http::error::ApiError;

/// Jobs that are looked through for the one of a picture.
const JOBS_MAX: usize = 30;
/// Characters of a title that stand for a picture.
const ALT_CHARS: usize = 100;

/// The newest picture of a prompt in a list, if this service has one. It does not move.
pub(super) fn thumbnail(api: &Api, prompt: &PromptRecord) -> Option<Markup> {
    let size = |image: &PromptImage| Some((image.width, image.height));
    let small = |image: &PromptImage| cover(api, &prompt.title, &image.source, size(image));
    prompt.images.iter().rev().find_map(small)
}

/// A small picture that a title stands for, with its size if that is known.
pub(super) fn cover(
    api: &Api,
    title: &str,
    image: &ImageRef,
    size: Option<(u32, u32)>,
) -> Option<Markup> {
    let name = api.assets.name_of(image)?;
    let source = match name.media() {
        Media::Mp4 | Media::Webm => return None,
        // No thumbnail is made of it.
        Media::Avif => address(api, &name),
        _ => api.site.page(&format!("thumbnails/{name}")),
    };
    let (width, height) = size.unzip();
    Some(html! {
        img loading="lazy" src=(source) width=[width] height=[height]
            alt=(shortened(title, ALT_CHARS));
    })
}

pub(super) fn pictures(api: &Api, prompt: &PromptRecord) -> Markup {
    html! {
        @if !prompt.images.is_empty() {
            div .pictures {
                @for image in prompt.images.iter().rev() { (picture(api, &prompt.title, image)) }
            }
        }
    }
}

/// A picture or video in the page of its prompt. An asset of this service is shown; anything else
/// is only linked to, if browsers can follow it without running something.
pub(super) fn picture(api: &Api, title: &str, image: &PromptImage) -> Markup {
    let (width, height) = (image.width, image.height);
    if let Some(name) = api.assets.name_of(&image.source) {
        let source = address(api, &name);
        let alt = shortened(title, ALT_CHARS);
        return match name.media() {
            Media::Mp4 | Media::Webm => html! {
                video controls preload="metadata" src=(source) width=(width) height=(height)
                    aria-label=(alt) {}
            },
            // Nothing moves before a person wants it to.
            Media::Gif => small_picture(api, title, image),
            _ => html! {
                a href=(source) {
                    img loading="lazy" src=(source) width=(width) height=(height) alt=(alt);
                }
            },
        };
    }
    let url = &*api.assets.write(&image.source);
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    html! { a href=[is_web.then_some(url)] rel="noopener noreferrer nofollow" { (typed(url, 80)) } }
}

/// The same in a list: a thumbnail that leads to the picture, where one is made.
pub(super) fn small_picture(api: &Api, title: &str, image: &PromptImage) -> Markup {
    let size = Some((image.width, image.height));
    let small = cover(api, title, &image.source, size).zip(api.assets.name_of(&image.source));
    let Some((small, name)) = small else { return picture(api, title, image) };
    html! {
        a href=(address(api, &name)) {
            (small)
            @if name.media() == Media::Gif { "▶ Play the animation" }
        }
    }
}

/// How a generated picture was made, if its job is one of the newest, with a link to vary it.
pub(super) async fn generation_settings(
    visit: &Visit<'_>,
    prompt: PromptId,
) -> Result<Markup, ApiError> {
    let jobs = visit.store().jobs(&visit.caller, None, JOBS_MAX).await?;
    let is_it = |job: &&JobRecord| matches!(job.state, JobState::Completed(_, of) if of == prompt);
    let Some(JobRecord { key, request, .. }) = jobs.iter().find(is_it) else {
        return Ok(Markup::default());
    };
    Ok(html! {
        p .soft {
            "Model " code { (typed(&request.model_id, 40)) } " · " (typed(&request.aspect_ratio, 10))
            (chosen_settings(request)) " · " (visit.link(&super::parts::address("generate", [("job", &*key.client_job_id)]), "Again with changes"))
        }
    })
}

/// Settings of a generation that have no default.
pub(super) fn chosen_settings(request: &GenerationRequest) -> Markup {
    let seed = request.parameters.as_ref().and_then(|all| all.get("seed"));
    html! {
        @if let Some(seed) = seed { " · seed " (typed(&seed.to_string(), 40)) }
        @if let Some(negative) = &request.negative_prompt { " · negative prompt: " (typed(negative, 400)) }
    }
}

fn address(api: &Api, name: &AssetName) -> String {
    api.site.page(&format!("assets/{name}"))
}
