//! Faults in vaults (VA, LI-06, LI-07): the fields that come in and their limits.

pub(super) mod counts;
pub(super) mod deletion;
pub(super) mod forks;
pub(super) mod object;

use crate::prelude::*;

/// Where a vault's fields come in.
const WRITES: &str = "POST /vaults, PATCH /vaults/*";

const UPDATE: &str = "PATCH /vaults/*";
const SHOWN: &str = "POST /vaults, GET /vaults/*, PATCH /vaults/*";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "vaults.name-trimmed" ["VA-02"] taken_as(WRITES, "name", |name| {
        name.as_str().map(str::trim).filter(|name| !name.is_empty()).map(Into::into)
    }),
        "White space around a name is cut off." },
    fault! { "vaults.null-kept" ["VA-25"]
        ignored_if("PATCH /vaults/*", "description", Value::is_null),
        "description: null in an update is passed over." },
    fault! { "vaults.patch-clears" ["VA-23"] edits("PATCH /vaults/*", |body| {
        if body.get("name").is_some() && body.get("description").is_none() {
            body["description"] = Value::Null;
        }
    }),
        "An update that leaves the description out clears it." },
    fault! { "vaults.patch-hides" ["VA-23"] edits("PATCH /vaults/*", |body| {
        if body.get("description").is_some() && body.get("visibility").is_none() {
            body["visibility"] = "private".into();
        }
    }),
        "An update that leaves the visibility out makes the vault private." },
    fault! { "vaults.patch-first-field" ["VA-24"] edits("PATCH /vaults/*", |body| {
        if body["name"].as_str().is_some_and(|name| !name.is_empty()) {
            without(body, "visibility");
        }
    }),
        "An update with a name takes no other field." },
    fault! { "vaults.patch-answers-old" ["VA-22"]
        whole("PATCH /vaults/*", |request, upstream| async move {
            let before = upstream.get(&request, &*request.path).await;
            let response = upstream.send(&request).await;
            if response.is_success() { before } else { response }
        }),
        "An update answers with the vault before it." },
    fault! { "vaults.visible-by-default" ["VA-19"]
        defaulted("POST /vaults", "visibility", "unlisted"),
        "A new vault is unlisted by default." },
    fault! { "vaults.visibility-private" ["VA-20"]
        taken_as("POST /vaults", "visibility", |visibility| {
        unknown(visibility.as_str()?).then(|| "private".into())
    }),
        "An unknown visibility of a create is private." },
    fault! { "vaults.general-deleted" ["VA-12"] general_deleted(),
        "The General vault can be deleted." },
    fault! { "vaults.name-once" ["VA-02"] whole("POST /vaults", |request, upstream| async move {
        let vaults = upstream.get(&request, "/vaults").await.json();
        let mut vaults = vaults["data"].as_array().into_iter().flatten();
        match request.text("name").filter(|name| vaults.any(|vault| text(vault, "name") == name)) {
            Some(_) => Response::refusal(409, "There is a vault of this name."),
            None => upstream.send(&request).await,
        }
    }),
        "Two vaults cannot have one name." },
    fault! { "vaults.patch-of-nothing" ["VA-23"] refused(UPDATE, 400, |request| {
        let body = request.json();
        let known = ["name", "description", "visibility"];
        body.is_object() && !known.iter().any(|key| body.get(key).is_some())
    }),
        "An update without a known field is refused." },
    fault! { "vaults.slug-first" ["VA-04"] {
        answers_with(SHOWN, move |firsts: &mut HashMap<i64, Value>, _, response| {
            let id = response.id();
            response.edit_data(|vault| {
                let slug = vault["slug"].clone();
                vault["slug"] = firsts.entry(id).or_insert(slug).clone();
            });
        })
    },
        "The slug is made from the first name, and a rename leaves it." },
    fault! { "vaults.slug-without-number" ["VA-04"] {
        answers_with(SHOWN, move |updated: &mut HashSet<i64>, request, response| {
            if request.method == Method::PATCH && response.is_success() {
                updated.insert(request.id(1));
            }
            if updated.contains(&request.id(1)) {
                response.edit_data(|vault| vault["slug"] = without_number(text(vault, "slug")).into());
            }
        })
    },
        "An update takes the number from a slug." },
    fault! { "vaults.general-renamed" ["VA-12"] of_general(|request| {
        request.edit(|body| without(body, "name"));
        None
    }),
        "A new name of the General vault is passed over." },
    fault! { "vaults.general-named" ["VA-12"] of_general(|request| refuses(request, "name")),
        "The General vault is refused the name that it has." },
    fault! { "vaults.general-described" ["VA-24"] of_general(|request| refuses(request, "description")),
        "The General vault takes no description." },
];

fn unknown(visibility: &str) -> bool {
    !["private", "unlisted", "public"].contains(&visibility)
}

/// It only says so; the vault is there again with the next output.
fn general_deleted() -> Intercept {
    whole("DELETE /vaults/*", |request, upstream| async move {
        let vault = upstream.get(&request, &*request.path).await;
        if vault.json()["data"]["isSystem"] == true {
            return Response::data(200, &json!({ "id": request.id(1), "deleted": true }));
        }
        upstream.send(&request).await
    })
}

fn without_number(slug: &str) -> &str {
    let number = |end: &&str| end.bytes().all(|byte| byte.is_ascii_digit());
    slug.rsplit_once('-').filter(|(_, end)| number(end)).map_or(slug, |(start, _)| start)
}

fn refuses(request: &Request, field: &str) -> Option<Response> {
    request.json().get(field).map(|_| refusal(field))
}

/// Changes updates of the system vault, or answers them.
fn of_general(change: fn(&mut Request) -> Option<Response>) -> Intercept {
    whole(UPDATE, move |mut request, upstream| async move {
        let vault = upstream.get(&request, &*request.path).await;
        let system = vault.json()["data"]["isSystem"] == true;
        match system.then(|| change(&mut request)).flatten() {
            Some(response) => response,
            None => upstream.send(&request).await,
        }
    })
}
