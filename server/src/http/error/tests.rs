use std::fmt::Write;

use http::HeaderValue;
use promptarium::PromptId;

use super::*;

fn every_failure() -> Vec<ApiError> {
    vec![
        ApiError::UnknownPath,
        ApiError::WrongMethod(HeaderValue::from_static("GET, POST")),
        AuthError::Missing.into(),
        AuthError::Repeated.into(),
        AuthError::Malformed.into(),
        AuthError::Invalid.into(),
        AuthError::Scope.into(),
        AuthError::Session.into(),
        BodyReadError::NotJson.into(),
        BodyReadError::TooLarge.into(),
        BodyReadError::TooSlow(30).into(),
        BodyReadError::Longer(7).into(),
        BodyReadError::Shorter(7).into(),
        SlotError::NoToken.into(),
        SlotError::Invalid.into(),
        SlotError::Expired.into(),
        ApiError::OtherType("image/png"),
        ApiError::SlotUsed,
        ApiError::OutOfRange(7),
        BlobError::from(std::io::Error::other("secret")).into(),
        BlobError::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).into(),
        BodyError("is empty, but must be a JSON object".to_owned()).into(),
        BodyError("must be a JSON object, but is an array".to_owned()).into(),
        FieldErrors::of("title", "is required").into(),
        ApiError::NotFound,
        StoreError::NotFound.into(),
        StoreError::UnknownVault.into(),
        StoreError::UnknownTargetVault.into(),
        StoreError::UnknownPrompts(vec![PromptId::new(7), PromptId::new(9)]).into(),
        StoreError::ModelRequired.into(),
        StoreError::SystemVaultRename.into(),
        StoreError::SystemVaultDelete.into(),
        StoreError::ForkOfPrivateVault.into(),
        StoreError::JobConflict.into(),
        StoreError::KeyRevoked.into(),
        StoreError::Unavailable("secret".into()).into(),
        AuthError::Store(StoreError::Unavailable("secret".into())).into(),
        StoreError::KeyTaken.into(),
        StoreError::LeaseLost.into(),
        SubmitError::Refused("no such model".to_owned()).into(),
        SubmitError::Unavailable("secret".to_owned()).into(),
        SubmitError::Unknown("secret".to_owned()).into(),
        ApiError::Busy,
        ApiError::Stopping,
        ApiError::Panic("secret".to_owned()),
    ]
}

const WRITE: RequestTarget = RequestTarget { not_found: "there is no such prompt", writes: true };

#[test]
fn every_failure_has_one_status_and_one_text() {
    let mut table = String::new();
    for failure in &every_failure() {
        let problem = failure.problem(WRITE);
        let (status, text) = (problem.status.as_u16(), &problem.text);
        let details: Vec<_> = problem.details.iter().collect();
        write!(table, "{status} {text}").unwrap();
        writeln!(table, "{}", if details.is_empty() { "" } else { "  [+]" }).unwrap();
        for (name, error) in details {
            writeln!(table, "      {name}: {error}").unwrap();
        }
        assert!(failure.cause().is_some() || status != 500, "{failure:?}");
        assert!(failure.cause().is_none() || status >= 500, "{failure:?}");
    }
    insta::assert_snapshot!(table, @r"
    404 there is nothing at this path
    405 this path does not take this method; it takes GET, POST
    401 the Authorization header is missing; send `Authorization: Bearer <API key>`
    401 there is more than one Authorization header; send exactly one
    401 the Authorization header is malformed; send `Authorization: Bearer <API key>`
    401 the API key is not valid
    401 the API key lacks the scope prompts:write
    401 this needs a browser session; an API key does not do
    415 the request needs one header `Content-Type: application/json`
    413 the body has more than 4194304 bytes
    408 the body did not arrive within 30 seconds
    413 the body has more than the 7 bytes that were declared
    400 the body has fewer than the 7 bytes that were declared
    401 this address takes one upload, by PUT with `Authorization: Bearer <token of the slot>`; the image is at the slot's url, not here
    401 the token is not the one for this upload address, or the address was changed
    401 the upload address has run out; ask for a new slot
    415 the upload needs one header `Content-Type: image/png`, the type that was declared
    400 this upload address has been used; ask for a new slot
    416 the range is outside the 7 bytes of the asset
    503 the storage of files does not work at the moment; try again in a while
    503 the storage of files has no space left; nothing was kept
    400 the body is empty, but must be a JSON object  [+]
          body: is empty, but must be a JSON object
    400 the body must be a JSON object, but is an array  [+]
          body: must be a JSON object, but is an array
    400 title is required  [+]
          title: is required
    404 there is no such prompt
    404 there is no such prompt
    400 vaultId names no vault of this account  [+]
          vaultId: names no vault of this account
    400 targetVaultId names no vault of this account  [+]
          targetVaultId: names no vault of this account
    400 promptIds names prompts that this account does not have: 7, 9  [+]
          promptIds: names prompts that this account does not have: 7, 9
    400 modelId is required when promptType is image or video  [+]
          modelId: is required when promptType is image or video
    400 name must stay as it is, since this is a system vault  [+]
          name: must stay as it is, since this is a system vault
    400 a system vault cannot be deleted
    400 a private vault cannot be forked; set its visibility to unlisted or public first
    400 clientJobId belongs to another generation of this account, asked for with another body  [+]
          clientJobId: belongs to another generation of this account, asked for with another body
    401 the API key is not valid
    503 the database cannot be reached, so it is not known whether this was carried out; look before you send it again
    503 the database cannot be reached; try again in a while
    500 something went wrong in the server; its log says more under this request's x-request-id
    500 something went wrong in the server; its log says more under this request's x-request-id
    502 the provider refused the generation: no such model
    503 the provider cannot be reached; nothing was queued, so the request can be sent again
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
        assert_eq!(retry, is_503 && !problem.text.contains("not known"), "{failure:?}");
    }
    let away = ApiError::from(StoreError::Unavailable("secret".into()));
    let problem = away.problem(RequestTarget { writes: false, ..WRITE });
    assert_eq!(problem.text, "the database cannot be reached; try again in a while");
    assert!(problem.header.is_some());
}
