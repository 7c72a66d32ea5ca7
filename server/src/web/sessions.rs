//! The sessions of the account.

use http::HeaderMap;
use http::header::USER_AGENT;

use super::prelude::*;
use crate::domain::KeyId;

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let sessions = visit.store().sessions(&visit.caller).await?;
    let content = html! {
        p {
            "Each browser that is signed in has a session, with the name that the browser gave. End "
            "those that you do not know."
        }
        (list_of(&sessions, |other| html! {
            li {
                strong {
                    bdi { (other.browser.as_deref().unwrap_or("Unknown browser")) }
                    @if other.id == visit.session.id { " (this browser)" }
                }
                p .soft {
                    "Signed in " (visit.ago(other.created_at)) " · last used " (visit.ago(other.last_seen_at))
                    " · ends " (visit.ago(other.expires_at)) " at the latest · session " (other.id.0)
                }
                @if other.id != visit.session.id {
                    form method="post" action=(visit.at(&format!("sessions/{}/end", other.id.0))) {
                        button { "End session " (other.id.0) }
                    }
                }
            }
        }))
        @if sessions.len() > 1 {
            h2 { "All others" }
            form method="post" action=(visit.at("sessions/end-others")) {
                button .danger { "End all other sessions" }
            }
        }
    };
    visit.page("sessions", "Sessions").show(&content)
}

/// Ends the session in the path, or all but that of the request.
pub(crate) async fn end(visit: Visit<'_>) -> HandlerResult {
    let ended = match visit.path_id::<i64>()? {
        Some(id) => vec![KeyId(id)],
        None => {
            let all = visit.store().sessions(&visit.caller).await?;
            all.iter().map(|other| other.id).filter(|id| *id != visit.session.id).collect()
        }
    };
    for id in ended {
        visit.store().end_session(&visit.caller, id).await?;
    }
    visit.done("sessions", "sessions-ended")
}

/// What tells browsers apart in `User-Agent`, the most telling first.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 6] = [
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// The browser of a request in a few words, such as "Firefox on Linux".
pub(super) fn browser(headers: &HeaderMap) -> Option<String> {
    let agent = headers.get(USER_AGENT)?.to_str().ok()?;
    let find = |all: &[(&str, &'static str)]| {
        all.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => Some(format!("{browser} on {system}")),
        (browser, system) => browser.or(system).map(ToOwned::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_is_named_in_a_few_words() {
        for (agent, expected) in [
            ("Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/143.0", Some("Firefox on Linux")),
            ("Mozilla/5.0 (Windows NT) Chrome/141 Safari/537 Edg/141", Some("Edge on Windows")),
            ("Mozilla/5.0 (iPhone; like Mac OS X) Safari/604.1", Some("Safari on iOS")),
            ("<script>", None),
        ] {
            let agent = HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static(agent))]);
            assert_eq!(browser(&agent).as_deref(), expected);
        }
        assert_eq!(browser(&HeaderMap::new()), None);
    }
}
