//! The form of the header `Authorization`.

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{self, Ids};
use crate::{Case, Failure, Scenario, check};

use super::{Form, main_key, refused_everywhere};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.header.accepted" ["AU-01"] accepted,
        "Every endpoint lets in a call with Authorization: Bearer and the key" },
    reference! { "auth.header.case" ["AU-03"] letter_case,
        "Bearer is taken only as it is written, upper and lower case (S-52)" },
    reference! { "auth.header.spaces" ["AU-03", "AU-05"] spaces,
        "No further space is taken before, after or within the key (S-52)" },
    reference! { "auth.header.two" ["AU-03"] two,
        "Two Authorization headers are refused, even if one or both are right (S-52)" },
    reference! { "auth.header.elsewhere" ["AU-02"] elsewhere,
        "A key in the query, a cookie or another header is no Authorization (S-52)" },
    reference! { "auth.header.health" ["AU-01"] health,
        "The health addresses beside the API need no key (S-54)" },
];

async fn accepted(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    for endpoint in endpoints::all(&case, &ids) {
        let reply = endpoint.send(&wire).await?;
        reply.ensure(reply.status_code() != 401, "another status than 401", "status 401")?;
    }
    Ok(())
}

async fn letter_case(case: Case) -> Result<(), Failure> {
    let forms = ["bearer", "BEARER", "bEARER"];
    let form = |word| Form::new(word, format!("{word} {}", main_key(&case)));
    refused_everywhere(&case, &forms.map(form)).await
}

async fn spaces(case: Case) -> Result<(), Failure> {
    let key = main_key(&case);
    let (head, tail) = key.split_at(key.len() / 2);
    let forms = [
        Form::new("two spaces", format!("Bearer  {key}")),
        Form::new("a space and a tab", format!("Bearer \t{key}")),
        Form::new("a space within", format!("Bearer {head} {tail}")),
        Form::new("a word after", format!("Bearer {key} x")),
        Form::new("a comma after", format!("Bearer {key},")),
        Form::new("a list of two", format!("Bearer {key}, Bearer {key}")),
        Form::new("in quotes", format!("Bearer \"{key}\"")),
    ];
    refused_everywhere(&case, &forms).await
}

async fn two(case: Case) -> Result<(), Failure> {
    let right = format!("Bearer {}", main_key(&case));
    let wrong = "Basic dXNlcjpwYXNzd29yZA==".to_owned();
    let form = |name: &str, values: [&String; 2]| Form {
        name: name.into(),
        values: values.map(String::clone).into(),
    };
    let forms = [
        form("the right one twice", [&right, &right]),
        form("the right one first", [&right, &wrong]),
        form("the right one last", [&wrong, &right]),
    ];
    refused_everywhere(&case, &forms).await
}

async fn elsewhere(case: Case) -> Result<(), Failure> {
    let key = main_key(&case);
    let get = |path: &str| case.anonymous().call(http::Method::GET, path);
    let bearer = format!("Bearer {key}");
    for (name, call) in [
        ("in the query", get(&format!("/vaults?api_key={key}&access_token={key}"))),
        ("in a cookie", get("/vaults").header("cookie", format!("api_key={key}"))),
        ("in x-api-key", get("/vaults").header("x-api-key", key)),
        ("in proxy-authorization", get("/vaults").header("proxy-authorization", &bearer)),
    ] {
        check::with_context(name, call.send().await?.status(401))?;
    }
    Ok(())
}

async fn health(case: Case) -> Result<(), Failure> {
    // The HTTP client resolves the dots before it sends.
    for path in ["/../../healthz", "/../../readyz"] {
        case.anonymous().get(path).await?.status(200)?;
    }
    Ok(())
}
