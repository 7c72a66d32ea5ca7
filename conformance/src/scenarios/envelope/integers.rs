//! What is taken as an integer in a body (S-65), held against every integer
//! that a body has.

use crate::scenario::reference;
use crate::scenarios::endpoints::{self, Ids};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[reference! { "envelope.integers.form" ["ER-05"] form,
    "Only digits make an integer in a body; 1.0, 1e0, \"1\", true and more than 64 bits do not \
     (S-65)" }];

async fn form(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    for endpoint in endpoints::all(&case, &ids) {
        let (field, id) = match endpoint.template {
            "/prompts" | "/prompts/{promptId}" | "/prompts/{promptId}/save" => {
                ("vaultId", ids.target)
            }
            "/vaults/{vaultId}/prompts" => ("promptIds", ids.loose),
            "/vaults/{vaultId}/prompts/{vaultPromptId}/move" => ("targetVaultId", ids.target),
            _ => continue,
        };
        if endpoint.body.is_none() {
            continue;
        }
        for value in forms(id) {
            let body = match (endpoint.template, field) {
                ("/prompts", _) => {
                    format!(r#"{{"title":"t","prompt":"p","{field}":{value}}}"#)
                }
                (_, "promptIds") => format!(r#"{{"{field}":[{value}]}}"#),
                _ => format!(r#"{{"{field}":{value}}}"#),
            };
            let call = wire.call(endpoint.method.clone(), &endpoint.path);
            let reply = call.body("application/json", body).send().await?;
            let refused = || reply.status(400)?.at(&format!("/details/{field}"));
            check::about(format!("{endpoint}, {field} {value}"), refused())?;
        }
    }
    Ok(())
}

fn forms(id: i64) -> Vec<String> {
    let mut forms = vec![format!("{id}.0"), format!("{id}e0"), format!("\"{id}\"")];
    let fixed = ["true", "1.5", "9223372036854775808", "-9223372036854775809", "1e400"];
    forms.extend(fixed.map(str::to_owned));
    forms
}
