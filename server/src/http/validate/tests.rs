use std::sync::Arc;

use promptarium::PromptId;

use super::*;

const F: &str = "f";

/// Checks what a rule makes of the field `f` of bodies, or of queries that have an `=`.
fn check<T: fmt::Debug>(rule: impl Fn(&Field<'_>) -> Result<T, FieldError>, rows: &[(&str, &str)]) {
    for (given, expected) in rows {
        let body = format!(r#"{{"f":{given}}}"#);
        let mut form = match given.starts_with("f=") {
            true => query_fields(Some(given), &[F]),
            false => json_fields(body.as_bytes(), &[F]).unwrap(),
        };
        let outcome = match (form.optional(F, &rule), form.finish()) {
            (Some(value), Ok(())) => format!("{value:?}"),
            (_, errors) => errors.unwrap_err().0.remove(F).unwrap(),
        };
        assert_eq!(outcome, *expected, "{given}");
    }
}

#[test]
fn strings_have_a_length_in_characters() {
    let rows = [
        (r#""abc""#, r#""abc""#),
        (r#""👍🏽x""#, r#""👍🏽x""#),
        (r#""\ud83d\ude00""#, r#""😀""#),
        (r#""""#, "must be 1 to 3 characters, but has 0"),
        (r#""abcd""#, "must be 1 to 3 characters, but has 4"),
        (r#""a\u0000""#, "must not hold the character U+0000"),
        ("1", "must be a string, but is a number"),
        ("null", "must be a string, but is null"),
    ];
    check(text(1..=3), &rows);
    let rows = [(r#""""#, r#""""#), (r#""abcd""#, "must be at most 3 characters, but has 4")];
    check(text(0..=3), &rows);
}

#[test]
fn urls_are_absolute() {
    const RELATIVE: &str = "must be an absolute URL such as https://example.com/a.png";
    const SPACES: &str = "must be a URL, but holds spaces or control characters";
    let rows = [
        (r#""https://example.com/ä?b#c""#, r#""https://example.com/ä?b#c""#),
        (r#""example.com/a.png""#, RELATIVE),
        (r#""https://""#, "must be a URL, but does not parse: empty host"),
        (r#""https://a:99999/""#, "must be a URL, but does not parse: invalid port number"),
        (r#"" https://example.com""#, SPACES),
    ];
    check(absolute_url, &rows);
}

#[test]
fn model_ids_begin_with_their_namespace() {
    const WRONG: &str = "must be a model id that begins with local/, such as local/name";
    let rows = [
        (r#""local/ ""#, r#""local/ ""#),
        (r#""local/a\n""#, r#""local/a\n""#),
        (r#""local/""#, WRONG),
        (r#""local/\n""#, WRONG),
        (r#""Local/plasma""#, WRONG),
    ];
    check(model_id("local"), &rows);
    let long = format!("\"local/{}\"", "é".repeat(251));
    check(model_id("local"), &[(&long, "must be at most 256 characters, but has 257")]);
}

#[test]
fn ids_are_integers_of_64_bits() {
    let rows = [
        ("9223372036854775807", "PromptId(9223372036854775807)"),
        ("-0", "PromptId(0)"),
        (
            "1000000000000000000000000",
            "must be an integer of 64 bits, but is 100000000000000000000000...",
        ),
        ("3564.0", "PromptId(3564)"),
        ("1e3", "PromptId(1000)"),
        ("-1.25E+2", "PromptId(-125)"),
        ("-0.0", "PromptId(0)"),
        ("9007199254740991.0", "PromptId(9007199254740991)"),
        ("9007199254740993", "PromptId(9007199254740993)"),
        ("9007199254740993.0", "must be an integer, but is 9007199254740993.0"),
        ("1e16", "must be an integer, but is 1e16"),
        ("1e400", "must be an integer, but is 1e400"),
        ("1e-3", "must be an integer, but is 1e-3"),
        (r#""1""#, "must be an integer, but is a string"),
    ];
    check(id::<PromptId>, &rows);
    let rows = [("1.0", "PromptId(1)"), ("-7", "must be at least 1, but is -7")];
    check(id_from_1::<PromptId>, &rows);
    let rows = [("1e2", "100"), ("101.0", "must be 1 to 100, but is 101")];
    check(integer(1..=100), &rows);
}

#[test]
fn words_are_those_of_a_table() {
    const WORDS: &[(&str, u8)] = &[("image", 1), ("text", 2), ("video", 3)];
    let rows = [
        (r#""text""#, "2"),
        (r#""Text""#, r#"must be one of image, text, video, but is "Text""#),
        (
            r#""a word that is far too long""#,
            r#"must be one of image, text, video, but is "a word that is far too l...""#,
        ),
    ];
    check(one_of(WORDS), &rows);
}

#[test]
fn lists_name_every_entry_that_fails() {
    let rule = list(1..=3, id::<PromptId>);
    let rows = [
        ("[1,2,3]", "[PromptId(1), PromptId(2), PromptId(3)]"),
        ("[]", "must have 1 to 3 entries, but has 0"),
        ("[1,2,3,4,5]", "must have 1 to 3 entries, but has 5"),
        (r#"[1,"2",0]"#, "entry 2 must be an integer, but is a string"),
        (
            "[[1],1,true]",
            "entry 1 must be an integer, but is an array; \
             entry 3 must be an integer, but is a boolean",
        ),
        ("1", "must be an array, but is a number"),
    ];
    check(&rule, &rows);
    let many = format!("[{}1]", "1,".repeat(100_000));
    check(&rule, &[(&many, "must have 1 to 3 entries, but has 100001")]);
}

#[test]
fn integers_in_queries_are_decimal_digits() {
    const DIGITS: &str = "must be an integer in decimal digits";
    const EMPTY: &str = "must not be empty; leave it out instead";
    const TWICE: &str = "must be given once, but is given more than once";
    let rows = [
        ("f=007", "7"),
        ("f=0", "must be 1 to 100, but is 0"),
        ("f=-1", "must be 1 to 100, but is -1"),
        ("f=9999999999999999999999999", "must be 1 to 100, but is 999999999999999999999999..."),
        ("f=+1", DIGITS),
        ("f=", EMPTY),
        ("f=1&f=1", TWICE),
        ("f=1&f=", TWICE),
    ];
    check(integer(1..=100), &rows);
    let rows = [
        ("f=-7", "-7"),
        ("f=9223372036854775808", "must be an integer of 64 bits, but is 9223372036854775808"),
        ("f=x", DIGITS),
    ];
    check(id::<i64>, &rows);
}

#[test]
fn bodies_that_are_no_objects_are_refused() {
    let error = |body: &[u8]| json_fields(body, &[F]).unwrap_err().0["body"].clone();
    let rows: &[(&[u8], &str)] = &[
        (b"", "is empty, but must be a JSON object"),
        (b"[]", "must be a JSON object, but is an array"),
        (b"{", "is not JSON: EOF while parsing an object at line 1 column 1"),
        (b"{\"f\":}", "is not JSON: expected value at line 1 column 6"),
        (b"{\"f\":1} x", "is not JSON: trailing characters at line 1 column 9"),
        (b"{\"f\":\"\xff\"}", "is not UTF-8 text: the byte at position 6 cannot be part of it"),
        (br#"{"f":"\ud800"}"#, "is not JSON: \\ud800 is half a surrogate pair"),
        (b"{\n\"x\": [\"\\\\\\uD83D\\n\"]}", "is not JSON: \\ud83d is half a surrogate pair"),
        (br#"{"f":"\uDE00\uD83D"}"#, "is not JSON: \\ude00 is half a surrogate pair"),
    ];
    for (body, expected) in rows {
        assert_eq!(error(body), *expected, "{body:?}");
    }
}

#[test]
fn unknown_fields_are_skipped_and_the_last_of_two_counts() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = format!(r#"{{"x":{deep},"f":1,"y":{{"f":2}},"\u0066":3}}"#);
    let mut form = json_fields(body.as_bytes(), &[F]).unwrap();
    assert_eq!(form.required(F, id::<i64>), Some(3));
    form.finish().unwrap();
}

proptest::proptest! {
    /// A body is accepted if and only if a full JSON reader accepts it.
    #[test]
    fn a_body_is_judged_as_a_json_reader_judges_it(
        inside in r#"[{}\[\]",:\\ud8DcC01-]{0,24}"#,
        around in proptest::bool::ANY,
    ) {
        let body = if around { format!(r#"{{"f":"{inside}"}}"#) } else { inside };
        let expected = serde_json::from_str::<serde_json::Map<_, _>>(&body).is_ok();
        proptest::prop_assert_eq!(json_fields(body.as_bytes(), &[F]).is_ok(), expected, "{}", body);
    }

    #[test]
    fn no_body_makes_it_panic(body: Vec<u8>) {
        let _ = json_fields(&body, &[F]).map(|mut form| form.required(F, text(0..=9)));
    }
}

#[test]
fn absent_and_null_are_distinguished() {
    let form = || json_fields(br#"{"null":null,"set":"x"}"#, &["absent", "null", "set"]).unwrap();
    let nullable = |name| form().nullable(name, text(0..=9));
    assert_eq!(nullable("absent"), None);
    assert_eq!(nullable("null"), Some(None));
    assert_eq!(nullable("set"), Some(Some(Arc::from("x"))));

    let mut optional = form();
    assert_eq!(optional.optional("absent", text(0..=9)), None);
    assert!(optional.is_clean());
    assert_eq!(optional.optional("null", text(0..=9)), None);
    let errors = optional.finish().unwrap_err();
    assert_eq!(errors.to_string(), "null must be a string, but is null");
}

#[test]
fn every_failing_field_is_reported_once() {
    let mut form = json_fields(br#"{"title":"","prompt":1}"#, &["title", "prompt", "id"]).unwrap();
    form.required("title", text(1..=3));
    form.required("prompt", text(0..=9));
    form.required("id", id::<i64>);
    form.reject("prompt", "a second error of one field is dropped".to_owned());
    let errors = form.finish_with(Some(())).unwrap_err();
    assert_eq!(errors.to_string(), "3 fields are not valid: id, prompt, title; details says why");
    let all = errors.0.into_iter().map(|(name, error)| format!("{name} {error}\n"));
    let expected = "id is required\nprompt must be a string, but is a number\n\
                    title must be 1 to 3 characters, but has 0\n";
    assert_eq!(all.collect::<String>(), expected);
}

#[test]
fn objects_have_any_keys_but_no_nul_and_a_bounded_depth() {
    let rows = [
        ("{}", "{}"),
        (
            r#"{"seed": 7, "a": {"b": [null, "c"]}}"#,
            r#"{"a": Object {"b": Array [Null, String("c")]}, "seed": Number(7)}"#,
        ),
        (r#""{}""#, "must be an object, but is a string"),
        (r#"{"\u0000":1}"#, "must not hold the character U+0000"),
        (r#"{"a":"\\u0000"}"#, r#"{"a": String("\\u0000")}"#),
        (r#"{"a":[{"b\u0000":1}]}"#, "must not hold the character U+0000"),
    ];
    check(object, &rows);
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    for unreadable in [&deep, r#"{"a":1e999}"#] {
        let body = format!(r#"{{"f":{unreadable}}}"#);
        let error = json_fields(body.as_bytes(), &[F]).unwrap().optional(F, object);
        assert!(error.is_none(), "{unreadable}");
    }
}

#[test]
fn the_extent_of_json_is_what_a_parser_finds() {
    for (json, expected) in [
        (" { } ", (1, 1)),
        (r#"{"a":1}"#, (1, 2)),
        (r#"{"a":[1, 2 ,{}],"b":""}"#, (3, 6)),
        (r#"{"],{\"":"[,\\","c":null}"#, (1, 3)),
        ("[[[ ],[]]]", (3, 4)),
    ] {
        assert_eq!(super::extent(json), expected, "{json}");
    }
}
