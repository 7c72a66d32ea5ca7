//! Each statement names each table of account data with the account as a parameter.

use super::plans::statements;

/// Tables of account data.
const TABLES: [&str; 4] = ["vault", "prompt", "vault_prompt", "job"];

/// Statements that name another account than `$1`, with the parameter that has it.
const OTHER_ACCOUNT: [(&str, &str, &str); 2] = [
    ("fork.source", "$4", "the vault that is forked may be another account's"),
    ("fork.copy", "$2", "the vault that is forked may be another account's"),
];

/// Statements that name no account in a parameter, with the reason.
const EXEMPT: [(&str, &str); 1] =
    [("jobs.ended", "a worker looks for the jobs of all accounts that ended long ago")];

/// A word, a number, a parameter, a literal or a sign, in lower case, and in which parentheses it
/// is: the number of the innermost one, 0 for none.
#[derive(Debug)]
struct Token {
    text: String,
    group: usize,
}

fn tokens(sql: &str) -> Vec<Token> {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let sql = lines.collect::<Vec<_>>().join("\n").to_lowercase();
    let (mut found, mut open, mut groups) = (Vec::new(), vec![0], 0);
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
        let end = match first {
            '\'' => rest[1..].find('\'').expect("a literal ends") + 2,
            _ if is_word(first) => rest.find(|char| !is_word(char)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        if first == '(' {
            groups += 1;
            open.push(groups);
        }
        let group = *open.last().expect("parentheses match");
        found.push(Token { text: rest[..end].to_owned(), group });
        if first == ')' {
            open.pop();
        }
        rest = rest[end..].trim_start();
    }
    found
}

/// The texts of the tokens of one group, from `start` on.
fn texts(tokens: &[Token], start: usize, group: usize) -> impl Iterator<Item = &str> {
    let own = tokens[start..].iter().filter(move |token| token.group == group);
    own.map(|token| token.text.as_str())
}

/// Whether a group has `alias.account_id = account`, or without an alias `account_id = account`.
fn binds(tokens: &[Token], group: usize, alias: Option<&str>, account: &str) -> bool {
    let own: Vec<_> = texts(tokens, 0, group).collect();
    let bound = [alias.unwrap_or("account_id"), ".", "account_id", "=", account];
    match alias {
        Some(_) => own.windows(5).any(|five| five == bound),
        None => own.windows(4).any(|four| four[0] != "." && four[1..] == bound[2..]),
    }
}

/// Whether the insert whose columns begin at `columns` takes `account` for `account_id`.
fn inserts(tokens: &[Token], columns: usize, account: &str) -> bool {
    let (group, outer) = (tokens[columns].group, tokens[columns - 1].group);
    let names: Vec<_> = texts(tokens, columns, group).filter(|text| *text != ",").collect();
    let Some(place) = names.iter().position(|name| *name == "account_id") else { return false };
    let mut values = texts(tokens, columns, outer).skip_while(|text| *text != "select").skip(1);
    // The place counts the parenthesis before the first name.
    let value = values.by_ref().take_while(|text| *text != "from");
    let values = value.collect::<Vec<_>>();
    values.split(|text| *text == ",").nth(place - 1).is_some_and(|value| value == [account])
}

/// References to account data that are not bound to one of `accounts`, and the number of those
/// that are.
fn unbound(sql: &str, accounts: &[&str]) -> (Vec<String>, usize) {
    const BEFORE: [&str; 5] = ["from", "join", "update", "into", "using"];
    const AFTER: [&str; 18] = [
        "where",
        "on",
        "set",
        "using",
        "join",
        "left",
        "cross",
        "order",
        "for",
        "group",
        "limit",
        "(",
        ")",
        ",",
        "returning",
        "union",
        "select",
        "offset",
    ];
    let tokens = tokens(sql);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let (mut wrong, mut bound) = (Vec::new(), 0);
    for at in (1..tokens.len()).filter(|at| TABLES.contains(&text(*at))) {
        let before = text(at - 1);
        if matches!(before, "." | "as") {
            // A column or its name.
            continue;
        }
        let group = tokens[at].group;
        let named = at + 1 + usize::from(text(at + 1) == "as");
        let alias = Some(text(named)).filter(|word| !word.is_empty() && !AFTER.contains(word));
        let is_bound = |account: &&&str| match before {
            "into" => inserts(&tokens, named + usize::from(alias.is_some()), account),
            _ => BEFORE.contains(&before) && binds(&tokens, group, alias, account),
        };
        match accounts.iter().find(is_bound) {
            Some(_) => bound += 1,
            None => wrong.push(format!("{before} {} {}", text(at), alias.unwrap_or_default())),
        }
    }
    (wrong, bound)
}

#[test]
fn every_statement_names_account_data_with_the_account() {
    let (mut wrong, mut all) = (Vec::new(), 0);
    for statement in statements() {
        let other = OTHER_ACCOUNT.iter().find(|(name, ..)| *name == statement.name);
        let (found, bound) = unbound(statement.sql, &["$1"]);
        let exempt = EXEMPT.iter().any(|(name, _)| *name == statement.name);
        let (found, bound) = match other {
            Some(_) if found.is_empty() => panic!("{} needs no exception", statement.name),
            Some((_, account, _)) => unbound(statement.sql, &["$1", account]),
            None => (found, bound),
        };
        match (found.is_empty(), exempt) {
            (false, false) => wrong.push(format!("{}: {}", statement.name, found.join(", "))),
            (true, true) => wrong.push(format!("{} needs no exception", statement.name)),
            _ => {}
        }
        all += bound;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all > 70, "only {all} references were seen");
}

#[test]
fn a_statement_without_the_account_would_be_found() {
    for (sql, bad) in [
        ("SELECT 1 FROM prompt p WHERE p.account_id = $1", 0),
        ("SELECT 1 FROM prompt p WHERE p.account_id = $2", 1),
        ("SELECT 1 FROM prompt WHERE account_id = $1 AND id = $2", 0),
        ("SELECT 1 FROM prompt WHERE id = $1", 1),
        ("SELECT 1 FROM prompt p JOIN vault v ON v.id = $2 WHERE p.account_id = $1", 1),
        ("SELECT 1 FROM prompt p JOIN vault v ON v.account_id = p.account_id", 2),
        ("SELECT 1 FROM caller, vault v WHERE v.account_id = $1", 1),
        ("SELECT 1 FROM job WHERE id = (SELECT 1 FROM caller WHERE account_id = $1)", 1),
        ("WITH v AS (SELECT 1 FROM vault o) SELECT 1 FROM v WHERE o.account_id = $1", 1),
        ("UPDATE vault v SET name = 'account_id = $1' WHERE v.id = $2", 1),
        ("UPDATE vault v SET name = '' FROM found -- v.account_id = $1", 1),
        ("DELETE FROM vault_prompt m USING v WHERE m.account_id = $1", 0),
        ("DELETE FROM v USING vault_prompt m WHERE m.vault_id = $1", 1),
        ("INSERT INTO prompt (account_id, kind) SELECT $1, $2 WHERE $3", 0),
        ("INSERT INTO prompt AS p (kind, account_id) SELECT greatest($1, $2), $1 FROM v", 0),
        ("INSERT INTO prompt (account_id, kind) SELECT $2, $1", 1),
        ("INSERT INTO prompt (account_id, kind) SELECT v.account_id, $1 FROM v", 1),
    ] {
        let (found, _) = unbound(sql, &["$1"]);
        assert_eq!(found.len(), bad, "{sql}: {found:?}");
    }
}
