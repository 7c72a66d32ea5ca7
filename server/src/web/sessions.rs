//! The sessions of the account.

use maud::html;

use super::layout::{Page, done};
use super::parts::{ago, list as list_of};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{KeyId, SessionRecord};

/// `GET /sessions`.
pub(crate) async fn list(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let sessions = api.store.sessions(&session.caller()).await?;
    // The session of this request is in the list, unless it has just ended.
    let empty = html! { p { "There is no session. Sign in again." } };
    let content = html! {
        p { "Each browser that is signed in has a session. End those that you do not know." }
        (list_of(&sessions, &empty, |other| html! {
            li {
                strong {
                    "Session " (other.id.0)
                    @if other.id == session.id { " (this browser)" }
                }
                p .soft {
                    "Signed in " (ago(api, other.created_at)) " · last used " (ago(api, other.last_seen_at))
                    " · ends " (ago(api, other.expires_at)) " at the latest"
                }
                @if other.id != session.id {
                    form method="post" action=(api.site.page(&format!("sessions/{}/end", other.id.0))) {
                        button { "End session " (other.id.0) }
                    }
                }
            }
        }))
        @if sessions.len() > 1 {
            h2 { "All others" }
            form method="post" action=(api.site.page("sessions/end-others")) {
                button .danger { "End all other sessions" }
            }
        }
    };
    Page::of(&api.site, session, "sessions", "Sessions").after(request.parts).show(&content)
}

/// `POST /sessions/{sessionId}/end`.
pub(crate) async fn end(api: &Api, session: &SessionRecord, request: Request<'_>) -> HandlerResult {
    let id: i64 = request.id(0)?;
    api.store.end_session(&session.caller(), KeyId(id)).await?;
    done(&api.site, "sessions", "session-ended")
}

/// `POST /sessions/end-others`.
pub(crate) async fn end_others(
    api: &Api,
    session: &SessionRecord,
    _: Request<'_>,
) -> HandlerResult {
    let caller = session.caller();
    for other in api.store.sessions(&caller).await? {
        if other.id != session.id {
            api.store.end_session(&caller, other.id).await?;
        }
    }
    done(&api.site, "sessions", "sessions-ended")
}
