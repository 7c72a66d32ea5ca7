//! `/vaults/{vaultId}/prompts`: what a vault holds, and the memberships in it.

use promptarium::limits;
use serde_json::{Value, json};

use super::operation::{Answer, Operation};
use super::schema::{self, Fields, of, with};
use super::{Named, prompts};

const TAG: &str = "Vault contents";

/// What the id of a membership leads to.
const OF_ONE: [&str; 4] =
    ["removeVaultPrompt", "moveVaultPrompt", "pinVaultPrompt", "unpinVaultPrompt"];

pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![
        ("listVaultPrompts", list()),
        ("addVaultPrompts", add()),
        ("removeVaultPrompt", remove()),
        ("moveVaultPrompt", relocate()),
        ("pinVaultPrompt", pin("Pin a prompt", "VC-25, VC-27, VC-29.", true)),
        ("unpinVaultPrompt", pin("Unpin a prompt", "VC-26, VC-28, VC-30.", false)),
    ]
}

fn list() -> Operation {
    let mut example = prompts::example();
    example["vaultPromptId"] = json!(40);
    example["isPinned"] = json!(false);
    let answer = Answer::new(200, "All prompts of the vault.")
        .data(&schema::list(&of("ListedPrompt")), &json!([example]))
        .leads_to(&["getPrompt"], &[("promptId", "$response.body#/data/0/id")])
        .leads_to(
            &OF_ONE,
            &[
                ("vaultId", "$request.path.vaultId"),
                ("vaultPromptId", "$response.body#/data/0/vaultPromptId"),
            ],
        );
    Operation::new(
        TAG,
        "List the prompts of a vault",
        "The whole contents in one answer: pinned ones first, then those added last (VC-04 to \
         VC-09, S-24, S-25, S-32). A query is ignored (S-03).",
    )
    .answer(answer)
}

fn add() -> Operation {
    let body = Fields::new()
        .must(
            "promptIds",
            schema::list_of(limits::ADDED_PROMPTS, &of("PromptId")),
            "Prompts of the caller; one that is none of them refuses all (VC-12 to VC-14, LI-08, S-27).",
        )
        .object();
    let added = Fields::new()
        .must(
            "added",
            with(schema::count(), json!({ "maximum": limits::ADDED_PROMPTS.end() })),
            "How many were not in the vault before (S-26).",
        )
        .must("vaultId", of("VaultId"), "The vault.")
        .must("promptCount", schema::count(), "How many it holds now.")
        .object();
    let example = json!({ "added": 1, "vaultId": 3, "promptCount": 1 });
    Operation::new(
        TAG,
        "Add prompts to a vault",
        "VC-10 to VC-14. The last of the list ends on top (S-25).",
    )
    .json(&body, &json!({ "promptIds": [17] }))
    .answer(
        Answer::new(201, "The prompts are in the vault (VC-11).").data(&added, &example).leads_to(
            &["listVaultPrompts", "getVault"],
            &[("vaultId", "$response.body#/data/vaultId")],
        ),
    )
}

fn remove() -> Operation {
    let removed = Fields::new()
        .must("vaultPromptId", of("MembershipId"), "The membership that is gone.")
        .must("removed", schema::only(true), "VC-15")
        .object();
    Operation::new(TAG, "Remove a prompt from a vault", "The prompt itself stays (VC-15, VC-16).")
        .answer(
            Answer::new(200, "The membership is gone.")
                .data(&removed, &json!({ "vaultPromptId": 40, "removed": true })),
        )
}

fn relocate() -> Operation {
    let body = Fields::new()
        .must("targetVaultId", of("VaultId"), "A vault of the caller (VC-22, VC-24, S-57).")
        .object();
    let moved = Fields::new()
        .must("promptId", of("PromptId"), "What moved.")
        .must("sourceVaultId", of("VaultId"), "Where it was.")
        .must("targetVaultId", of("VaultId"), "Where it is.")
        .must("vaultPromptId", of("MembershipId"), "Its new membership (VC-19).")
        .object();
    let example =
        json!({ "promptId": 17, "sourceVaultId": 3, "targetVaultId": 5, "vaultPromptId": 41 });
    let answer = Answer::new(200, "The prompt is in the target vault.")
        .data(&moved, &example)
        .leads_to(
            &OF_ONE,
            &[
                ("vaultId", "$response.body#/data/targetVaultId"),
                ("vaultPromptId", "$response.body#/data/vaultPromptId"),
            ],
        )
        .leads_to(&["getPrompt"], &[("promptId", "$response.body#/data/promptId")]);
    Operation::new(
        TAG,
        "Move a prompt to another vault",
        "One atomic step (VC-17 to VC-24). The new membership is not pinned (S-28 to S-30).",
    )
    .json(&body, &json!({ "targetVaultId": 5 }))
    .answer(answer)
}

fn pin(summary: &'static str, rules: &str, is_pinned: bool) -> Operation {
    let pinned = Fields::new()
        .must("vaultPromptId", of("MembershipId"), "The membership.")
        .must("isPinned", schema::only(is_pinned), "Whether it is pinned now.")
        .object();
    let example = json!({ "vaultPromptId": 40, "isPinned": is_pinned });
    let answer = Answer::new(200, "It is so now.").data(&pinned, &example).leads_to(
        &OF_ONE,
        &[
            ("vaultId", "$request.path.vaultId"),
            ("vaultPromptId", "$response.body#/data/vaultPromptId"),
        ],
    );
    Operation::new(TAG, summary, rules).answer(answer)
}

/// The schemas that are shared.
pub(super) fn schemas() -> Vec<Named<Value>> {
    let listed = prompts::fields().must("vaultPromptId", of("MembershipId"), "VC-01, VC-04").must(
        "isPinned",
        json!({ "type": "boolean" }),
        "VC-04",
    );
    vec![("ListedPrompt", listed.object())]
}
