//! A key that a target says back, in whatever disguise, shows nowhere.

use data_encoding::{BASE64, HEXLOWER};

use super::secret;
use crate::prelude::*;

/// The key as a target may give it back.
fn disguises() -> Vec<String> {
    let bytes = || KEY.bytes();
    let (half, other) = KEY.split_at(KEY.len() / 2 + 4);
    vec![
        KEY.to_owned(),
        format!("{half}\n{other}"),
        bytes().map(|byte| format!("%{byte:02X}")).collect(),
        bytes().map(|byte| format!("\\u{byte:04x}")).collect(),
        BASE64.encode(KEY.as_bytes()),
        BASE64.encode(format!("Bearer {KEY}").as_bytes()),
        HEXLOWER.encode(KEY.as_bytes()),
    ]
}

/// What must be in no report: twelve signs in a row of the secret, in any disguise.
fn traces() -> Vec<String> {
    let windows = |text: &str, length: usize| -> Vec<String> {
        let windows = text.as_bytes().windows(length);
        windows.map(|window| String::from_utf8(window.to_vec()).unwrap()).collect()
    };
    let bytes = || secret().bytes();
    let percent: String = bytes().map(|byte| format!("%{byte:02X}")).collect();
    let json: String = bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let mut traces = windows(secret(), 12);
    traces.extend(windows(&percent, 36));
    traces.extend(windows(&json, 72));
    traces.extend(windows(&HEXLOWER.encode(secret().as_bytes()), 24));
    for before in ["", "Bearer "] {
        // Of the whole, as what stands before it moves every sign.
        let whole = BASE64.encode(format!("{before}{KEY}").as_bytes());
        let start = (before.len() + KEY.len() - secret().len()).div_ceil(3) * 4;
        traces.extend(windows(&whole[start..whole.len() - 4], 12));
    }
    traces
}

/// Says all of it in a header and in bodies of every status.
fn tattles(line: &str) -> Answer {
    let all = disguises();
    let status = match line.split(' ').next() {
        _ if line == "GET /vaults" => return Answer::no_vaults(),
        Some("GET") => 200,
        Some("POST") => 201,
        Some("PATCH") => 404,
        _ => 500,
    };
    let in_header = all.iter().filter(|text| !text.contains('\n'));
    let headers: Vec<_> = in_header.map(|text| format!("x-echo: {text}")).collect();
    let json = all.iter().map(|text| text.replace('\n', "\\n"));
    let json: Vec<_> = json.map(|text| format!("\"{text}\"")).collect();
    let title = &json[0];
    let body = format!(
        "{{\"data\":{{\"id\":7,\"title\":{title},\"all\":[{}]}},\"error\":{title}}}\n{}",
        json.join(","),
        if status == 404 { all.join("\n") } else { String::new() }
    );
    Answer::With(status, headers.join("\r\n"), body)
}

#[tokio::test]
async fn a_key_that_a_target_says_back_shows_nowhere() {
    let stub = Stub::start(tattles).await;
    let folder = folder("canary");
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(["--timeout", "1", "--jobs", "32", "--verbose"].map(str::to_owned));
    for chapter in "envelope. prompts.create vaults.create keys. uploads.slot".split(' ') {
        arguments.extend(["--filter".to_owned(), chapter.to_owned()]);
    }
    let file = |name: &str| folder.join(name);
    for (name, _) in Format::ALL {
        arguments.extend(["--report".into(), format!("{name}={}", file(name).display())]);
    }
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let other = KEY.replace("a1", "o1").replace("c4n", "0th");
    let variables = [
        ("PROMPTARIUM_API_KEY", KEY),
        ("PROMPTARIUM_OTHER_API_KEY", &other),
        ("PROMPTARIUM_BASE_URL", &stub.base_url),
    ];
    let ran = program(&arguments, &variables).await.ended(1, &[]);
    let mut told = vec![("stdout", ran.out), ("stderr", ran.err)];
    for (name, _) in Format::ALL {
        told.push((name, text(file(name))));
    }
    let traces = traces();
    for (name, text) in &told {
        assert!(*name == "stderr" || text.contains("[key]"), "{name} shows no exchange at all");
        for trace in &traces {
            assert!(!text.contains(trace), "{trace:?} in {name}");
        }
    }
}
