use std::fmt::Write;

use http::HeaderValue;
use promptarium::PromptId;

use super::*;

fn every_failure() -> Vec<ApiError> {
    vec![
        RouteRefusal::UnknownPath.into(),
        RouteRefusal::WrongMethod { allow: HeaderValue::from_static("GET, POST") }.into(),
        AuthRefusal::Missing.into(),
        AuthRefusal::Repeated.into(),
        AuthRefusal::Malformed.into(),
        AuthRefusal::Invalid.into(),
        AuthRefusal::Scope.into(),
        AuthRefusal::Session.into(),
        BodyRefusal::NotJson.into(),
        BodyRefusal::TooLarge.into(),
        BodyRefusal::TooSlow(30).into(),
        BodyRefusal::Longer(7).into(),
        BodyRefusal::Shorter(7).into(),
        SlotError::NoToken.into(),
        SlotError::Invalid.into(),
        SlotError::Expired.into(),
        StorageError::OtherType("image/png").into(),
        StorageError::Used.into(),
        StorageError::OutOfRange(7).into(),
        BlobError::from(std::io::Error::other("secret")).into(),
        BlobError::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).into(),
        Malformed::Empty.into(),
        Malformed::NoObject("an array").into(),
        Refusals::of("title", "is required").into(),
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

const ASKED: Asked = Asked { addressed: Addressed::Membership, writes: true };

#[test]
fn every_failure_has_one_status_and_one_text() {
    let mut said = String::new();
    for failure in &every_failure() {
        let problem = failure.problem(ASKED);
        let (status, text) = (problem.status.as_u16(), &problem.text);
        let details: Vec<_> = problem.details.iter().collect();
        write!(said, "{status} {text}").unwrap();
        writeln!(said, "{}", if details.is_empty() { "" } else { "  [+]" }).unwrap();
        for (name, refusal) in details {
            writeln!(said, "      {name}: {refusal}").unwrap();
        }
        assert!(failure.cause().is_some() || status != 500, "{failure:?}");
        assert!(failure.cause().is_none() || status >= 500, "{failure:?}");
    }
    insta::assert_snapshot!(said, @r"
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
    404 there is no such vault in this account, or no such prompt in it
    404 there is no such vault in this account, or no such prompt in it
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
fn what_is_not_found_is_named() {
    use Addressed::{Asset, Job, Membership, Nothing, Prompt, SeenVault, Vault};

    let said = [Prompt, Vault, SeenVault, Membership, Job, Asset, Nothing].map(|addressed| {
        let asked = Asked { addressed, writes: false };
        assert_eq!(
            ApiError::NotFound.problem(asked),
            ApiError::from(StoreError::NotFound).problem(asked),
        );
        ApiError::NotFound.problem(asked).text.into_owned()
    });
    insta::assert_snapshot!(said.join("\n"), @r"
    there is no such prompt in this account
    there is no such vault in this account
    there is no such vault, or its owner keeps it private
    there is no such vault in this account, or no such prompt in it
    there is no generation of this clientJobId in this account
    there is nothing at this address, or nothing yet
    there is no such thing in this account
    ");
}

#[test]
fn what_fails_for_a_while_says_when_to_try_again() {
    for failure in every_failure() {
        let problem = failure.problem(ASKED);
        let again = problem.header.is_some_and(|(name, _)| name == RETRY_AFTER);
        assert_eq!(again, problem.status == StatusCode::SERVICE_UNAVAILABLE, "{failure:?}");
    }
}

#[test]
fn a_request_that_only_reads_can_be_sent_again() {
    let away = ApiError::from(StoreError::Unavailable("secret".into()));
    let text = away.problem(Asked { writes: false, ..ASKED }).text;
    assert_eq!(text, "the database cannot be reached; try again in a while");
}
