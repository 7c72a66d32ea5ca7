//! Status and text of every failure.

use std::fmt::Write;
use std::time::Duration;

use promptarium::PromptId;

use super::*;

fn every_failure() -> Vec<ApiError> {
    vec![
        ApiError::UnknownPath,
        ApiError::WrongMethod("GET, POST".to_owned()),
        AuthError::NoKey.into(),
        AuthError::Invalid.into(),
        AuthError::Scope.into(),
        ApiError::CrossSite("another site".into()),
        ApiError::TooManyAttempts(9),
        OverRate::of("key:requests=600/60", 9).into(),
        BodyReadError::OtherType("application/json").into(),
        BodyReadError::TooSlow(30).into(),
        BodyReadError::Longer(7).into(),
        BodyReadError::Shorter(7).into(),
        BodyReadError::Quota(OverQuota::Account("the memory")).into(),
        OverQuota::Address("the memory").into(),
        OverQuota::Server("the memory").into(),
        SlotError::NoToken.into(),
        ApiError::SlotUsed,
        ApiError::OutOfRange(7),
        BlobError::from(std::io::Error::other("secret")).into(),
        BlobError::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).into(),
        FieldErrors::of("title", "is required").into(),
        ApiError::NotFound,
        StoreError::NotFound.into(),
        StoreError::UnknownVault.into(),
        StoreError::UnknownPrompts(vec![PromptId::new(7), PromptId::new(9)]).into(),
        StoreError::ModelRequired.into(),
        StoreError::SystemVaultRename.into(),
        StoreError::ForkOfPrivateVault.into(),
        StoreError::JobConflict.into(),
        StoreError::TooManyKeys.into(),
        StoreError::TooManyPrompts.into(),
        StoreError::KeyRevoked.into(),
        StoreError::Unavailable("secret".into()).into(),
        StoreError::OutcomeUnknown("secret".into()).into(),
        StoreError::TooLarge.into(),
        AuthError::Store(StoreError::Unavailable("secret".into())).into(),
        StoreError::KeyTaken.into(),
        SubmissionError::from(SubmitError::Refused("no such model".to_owned())).into(),
        SubmissionError::from(SubmitError::Unavailable("secret".to_owned())).into(),
        SubmissionError::from(SubmitError::Busy("secret".to_owned(), BUSY)).into(),
        SubmissionError::from(SubmitError::Unknown("secret".to_owned())).into(),
        SubmissionError::InProgress.into(),
        ApiError::Stopping,
        ApiError::Panic("secret".to_owned()),
    ]
}

const BUSY: Duration = Duration::from_millis(16_001);

const WRITE: RequestTarget = RequestTarget { not_found: "there is no such prompt", writes: true };

/// Status and text of a failure, with the fields that it names.
fn row(failure: &ApiError) -> String {
    let problem = failure.problem(WRITE);
    let (status, text) = (problem.status.as_u16(), &problem.text);
    let mut row = format!("{status} {text}");
    for (name, error) in &problem.details.0 {
        assert!(text.ends_with(&format!("{name} {error}")), "{failure:?}");
        write!(row, " [{name}]").unwrap();
    }
    assert!(failure.cause().is_some() || status != 500, "{failure:?}");
    // The text of a 403 is for the operator, who reads the log.
    assert!(failure.cause().is_none() || status >= 500 || status == 403, "{failure:?}");
    row
}

#[test]
fn every_failure_has_one_status_and_one_text() {
    let table: Vec<_> = every_failure().iter().map(row).collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    404 there is nothing at this path
    405 this path does not take this method; it takes GET, POST
    401 the Authorization header is missing, repeated or malformed; send one `Authorization: Bearer <API key>`
    401 the API key is not valid
    401 the API key lacks the scope prompts:write
    403 another site
    429 too many wrong sign-in codes; try again in 9 seconds
    429 this key may send 600 requests in 60 seconds; try again in 9 seconds
    415 the request needs one header `Content-Type: application/json`
    408 the body did not arrive within 30 seconds
    413 the body has more than the 7 bytes that were declared
    400 the body has fewer than the 7 bytes that were declared
    429 this account uses all of the memory that it may; try again when some of its requests have ended
    503 this address uses all of the memory that it may; try again in a while
    503 all of the memory is in use; try again in a while
    401 this address takes one upload, by PUT with `Authorization: Bearer <token of the slot>`; the image is at the slot's url, not here
    400 this upload address has been used; ask for a new slot
    416 the range is outside the 7 bytes of the asset
    503 the storage of files does not work at the moment; try again in a while
    503 the storage of files has no space left; nothing was kept
    400 title is required [title]
    404 there is no such prompt
    404 there is no such prompt
    400 vaultId names no vault of this account [vaultId]
    400 promptIds names prompts that this account does not have: 7, 9 [promptIds]
    400 modelId is required when promptType is image or video [modelId]
    400 name must stay as it is, since this is a system vault [name]
    400 a private vault cannot be forked; set its visibility to unlisted or public first
    400 clientJobId was used before in this account, with a different request [clientJobId]
    400 the account has as many API keys as it may have; revoke one first
    400 the account would have too many prompts for a store in memory; nothing was changed
    401 the API key is not valid
    503 the database cannot be reached or is busy; nothing was carried out, so the request can be sent again
    503 the database did not confirm this in time, so it is not known whether it was carried out; look before you send it again
    400 the vault has too many prompts: this would take longer than 60 seconds; nothing was changed
    503 the database cannot be reached or is busy; try again in a while
    500 something went wrong in the server; its log says more under this request's x-request-id
    502 the provider refused the generation: no such model
    503 the provider cannot be reached; nothing was queued, so the request can be sent again
    503 the provider is busy; nothing was queued, so the request can be sent again
    502 it is not known whether the provider took the generation, so it counts as failed; another try needs another clientJobId
    503 an equal request with this clientJobId is still being handed to the provider; send it again in a while
    503 the server is shutting down
    500 something went wrong in the server; its log says more under this request's x-request-id
    ");
}

#[test]
fn a_503_invites_a_retry_unless_its_outcome_is_unknown() {
    for failure in every_failure() {
        let problem = failure.problem(WRITE);
        let retry = problem.header.is_some_and(|(name, _)| name == RETRY_AFTER);
        let is_503 = problem.status == StatusCode::SERVICE_UNAVAILABLE;
        let is_429 = problem.status == StatusCode::TOO_MANY_REQUESTS;
        let expected = is_429 || is_503 && !problem.text.contains("not known");
        assert_eq!(retry, expected, "{failure:?}");
    }
    for error in [StoreError::Unavailable, StoreError::OutcomeUnknown] {
        let away = ApiError::from(error("secret".into()));
        let problem = away.problem(RequestTarget { writes: false, ..WRITE });
        assert!(problem.text.ends_with("; try again in a while"), "{}", problem.text);
        assert!(problem.header.is_some());
    }
}
