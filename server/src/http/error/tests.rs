//! Status and text of every failure.

use std::time::Duration;

use promptarium::PromptId;

use super::*;

const BUSY: Duration = Duration::from_millis(16_001);
const WRITE: RequestTarget = RequestTarget { not_found: "there is no such prompt", writes: true };

/// Failures with their status and the field or the words that their text names.
fn every_failure() -> Vec<(u16, &'static str, ApiError)> {
    let encoded = BodyReadError::Encoded("Content-Encoding", "gzip".into());
    let storage_full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let prompts = vec![PromptId::new(7), PromptId::new(9)];
    let submit = |error| SubmissionError::from(error).into();
    vec![
        (404, "nothing at this path", ApiError::UnknownPath),
        (405, "it takes GET, POST", ApiError::WrongMethod("GET, POST".to_owned())),
        (401, "send `Authorization: Bearer <API key>`", AuthError::Missing.into()),
        (401, "send one `Authorization: Bearer <API key>`", AuthError::Malformed.into()),
        (401, "the API key is not valid", AuthError::Invalid.into()),
        (401, "lacks the scope prompts:write", AuthError::Scope.into()),
        (401, "an API key does not do", AuthError::KeyForSession.into()),
        (401, "needs a browser session", AuthError::NoSession.into()),
        (401, "this sign-in code is not valid", AuthError::WrongCode.into()),
        (403, "another site", ApiError::CrossSite("another site".into())),
        (
            429,
            "600 requests in 60 seconds",
            ApiError::TooMany { text: "600 requests in 60 seconds".into(), seconds: 9 },
        ),
        (415, "`Content-Type: image/png`", BodyReadError::OtherType("image/png").into()),
        (415, "`Content-Encoding: gzip`", encoded.into()),
        (413, "more than 7 bytes", BodyReadError::TooLarge(7).into()),
        (408, "within 30 seconds", BodyReadError::TooSlow(30).into()),
        (413, "more than the 7 bytes", BodyReadError::Longer(7).into()),
        (400, "fewer than the 7 bytes", BodyReadError::Shorter(7).into()),
        (429, "this account uses", BodyReadError::Quota(OverQuota::Account("memory")).into()),
        (503, "this address uses", OverQuota::Address("memory").into()),
        (503, "all of memory is in use", OverQuota::Server("memory").into()),
        (401, "token of the slot", SlotError::NoToken.into()),
        (401, "not the one for this upload", SlotError::Invalid.into()),
        (401, "has run out", SlotError::Expired.into()),
        (400, "ask for a new slot", ApiError::SlotUsed),
        (416, "outside the 7 bytes", ApiError::OutOfRange(7)),
        (503, "does not work", BlobError::from(std::io::Error::other("secret")).into()),
        (503, "no space left", BlobError::from(storage_full).into()),
        (400, "[title]", FieldErrors::of("title", "is required").into()),
        (404, "there is no such prompt", ApiError::NotFound),
        (404, "there is no such prompt", StoreError::NotFound.into()),
        (400, "[vaultId]", StoreError::UnknownVault.into()),
        (400, "[targetVaultId]", StoreError::UnknownTargetVault.into()),
        (400, "does not have: 7, 9 [promptIds]", StoreError::UnknownPrompts(prompts).into()),
        (400, "[modelId]", StoreError::ModelRequired.into()),
        (400, "[name]", StoreError::SystemVaultRename.into()),
        (400, "[name]", StoreError::AccountTaken.into()),
        (400, "cannot be deleted", StoreError::SystemVaultDelete.into()),
        (400, "set its visibility", StoreError::ForkOfPrivateVault.into()),
        (400, "[clientJobId]", StoreError::JobConflict.into()),
        (400, "revoke one first", StoreError::TooManyKeys.into()),
        (400, "delete one first", StoreError::TooManyVaults.into()),
        (400, "nothing was changed", StoreError::TooManyPrompts.into()),
        (400, "nothing was changed", StoreError::TooLarge.into()),
        (401, "the API key is not valid", StoreError::KeyRevoked.into()),
        (503, "nothing was carried out", StoreError::Unavailable("secret".into()).into()),
        (503, "the database has no space left", StoreError::Full("secret".into()).into()),
        (503, "all of memory is in use", StoreError::Busy(OverQuota::Server("memory")).into()),
        (503, "not known", StoreError::OutcomeUnknown("secret".into()).into()),
        (503, "try again", AuthError::Store(StoreError::OutcomeUnknown("secret".into())).into()),
        (500, "x-request-id", StoreError::KeyTaken.into()),
        (500, "x-request-id", StoreError::LeaseLost.into()),
        (502, "no such model", submit(SubmitError::Refused("no such model".to_owned()))),
        (503, "nothing was queued", submit(SubmitError::Unavailable("secret".to_owned()))),
        (503, "nothing was queued", submit(SubmitError::Busy("secret".to_owned(), BUSY))),
        (503, "nothing was queued", submit(SubmitError::NotAuthorized("secret".to_owned()))),
        (502, "not known", submit(SubmitError::Unknown("secret".to_owned()))),
        (503, "in a while", SubmissionError::InProgress.into()),
        (503, "the server is shutting down", ApiError::Stopping),
        (500, "x-request-id", ApiError::Panic("secret".to_owned())),
    ]
}

#[test]
fn every_failure_has_a_status_a_text_without_secrets_and_a_retry_where_nothing_was_done() {
    for (status, names, failure) in every_failure() {
        let problem = failure.problem(WRITE);
        let fields = problem.details.0.keys().map(|name| format!(" [{name}]"));
        let text = problem.text + &fields.collect::<String>();
        assert_eq!(problem.status, status, "{failure:?}");
        assert!(text.contains(names) && !text.contains("secret"), "{failure:?}: {text}");
        let retry = problem.header.filter(|(name, _)| name == RETRY_AFTER);
        let invites = status == 429 || status == 503 && !text.contains("not known");
        assert_eq!(retry.is_some(), invites, "{failure:?}");
        assert!(failure.cause().is_some() || status != 500, "{failure:?}");
        // The text of a 403 is for the operator, who reads the log.
        assert!(failure.cause().is_none() || status >= 500 || status == 403, "{failure:?}");
    }
}

/// Nobody repairs the provider's key or pays its bill within seconds.
#[test]
fn a_provider_is_left_alone_for_as_long_as_it_asks_or_for_minutes_if_it_refuses_this_service() {
    for (error, text, seconds) in [
        (SubmitError::Busy(String::new(), BUSY), "the provider is busy", "17"),
        (SubmitError::NotAuthorized(String::new()), "does not accept requests of this", "300"),
    ] {
        let problem = ApiError::from(SubmissionError::from(error)).problem(WRITE);
        assert!(problem.text.contains(text), "{}", problem.text);
        let expected = Some((RETRY_AFTER, http::HeaderValue::from_static(seconds)));
        assert_eq!(problem.header, expected, "{text}");
    }
}

#[test]
fn who_has_no_space_is_left_alone_until_somebody_may_have_made_some() {
    let full = BlobError::from(std::io::Error::from(std::io::ErrorKind::StorageFull));
    for error in [ApiError::from(full), StoreError::Full("secret".into()).into()] {
        let header = Some((RETRY_AFTER, http::HeaderValue::from_static("30")));
        assert_eq!(error.problem(WRITE).header, header, "{error:?}");
    }
}

#[test]
fn a_503_to_a_read_invites_a_retry_also_if_its_outcome_is_unknown() {
    for error in [StoreError::Unavailable, StoreError::OutcomeUnknown] {
        let away = ApiError::from(error("secret".into()));
        let problem = away.problem(RequestTarget { writes: false, ..WRITE });
        assert!(problem.text.ends_with("; try again in a while"), "{}", problem.text);
        assert!(problem.header.is_some());
    }
}
