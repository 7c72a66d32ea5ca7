//! Each endpoint lets each wrong credential in, refuses it with another status, or refuses it and
//! does what is asked.

use promptarium_conformance::scenarios::tables::{ROWS, Scope};

use super::{made, route};
use crate::exchange::Request;
use crate::fault::Fault;
use crate::faults::keys::{as_main, let_in, token};
use crate::front::{and_sends, code_instead};
use crate::keys::{MAIN, OTHER, READ_ONLY, REVOKED};

/// A credential: as in ids of scenarios, its rule, and whether a request has it.
type Credential = (&'static str, &'static str, fn(&Request) -> bool);

const CREDENTIALS: [Credential; 6] = [
    ("missing", "AU-02", |request| request.authorization().is_empty()),
    ("not-bearer", "AU-03", |request| {
        let value = request.authorization();
        !value.is_empty() && !value.starts_with("Bearer ")
    }),
    ("truncated", "AU-04", |request| {
        let token = token(request);
        !token.is_empty() && token != MAIN && MAIN.starts_with(token)
    }),
    ("unknown", "AU-05", |request| {
        let token = token(request);
        !MAIN.starts_with(token) && ![OTHER, READ_ONLY, REVOKED].contains(&token)
    }),
    ("revoked", "AU-06", |request| token(request) == REVOKED),
    ("no-scope", "AU-08", |request| token(request) == READ_ONLY),
];

/// Writes that scenarios look for after the refusal.
const SEEN: &str = "create-prompt update-prompt save-prompt create-vault update-vault add-prompts \
    pin move-prompt remove-prompt delete-prompt delete-vault";

pub(super) fn all() -> Vec<Fault> {
    let mut faults = Vec::new();
    for row in ROWS {
        for (credential, rule, has) in CREDENTIALS {
            let rule = match (credential, row.scope) {
                ("no-scope", Scope::Stated(rule)) => rule,
                ("no-scope", Scope::NotNeeded) => continue,
                _ => rule,
            };
            let (routes, name) = (route(row.method.as_str(), row.template), row.name);
            let among = format!("access.{credential}.{name}");
            let id = |operator: &str| format!("{among}.{operator}");
            faults.push(made(id("let-in"), rule, among.clone(), move || let_in(routes, has)));
            for code in [403, 404] {
                let how = move || code_instead(routes, 401, code, has);
                faults.push(made(id(&code.to_string()), rule, among.clone(), how));
            }
            if SEEN.split(' ').any(|seen| seen == name) {
                let how = move || {
                    and_sends(routes, move |mut request, _| {
                        let is_refused = has(&request);
                        as_main(&mut request);
                        is_refused.then_some(request)
                    })
                };
                faults.push(made(id("done"), rule, among.clone(), how));
            }
        }
    }
    faults
}
