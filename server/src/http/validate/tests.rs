use std::borrow::Cow;
use std::sync::Arc;

use promptarium::PromptId;
use serde_json::{Map, Value};

use super::*;

const F: &str = "f";

/// What a rule says to the value of a field, in JSON.
fn says<T: fmt::Debug>(json: &str, rule: impl Fn(RawField<'_>) -> Result<T, FieldError>) -> String {
    let body = format!(r#"{{"f":{json}}}"#);
    let mut form = json_fields(body.as_bytes(), &[F]).unwrap();
    let value = form.required(F, rule);
    let shown: String = json.chars().take(30).collect();
    match (value, form.finish()) {
        (Some(value), Ok(())) => format!("{shown}  =>  {value:?}"),
        (None, Err(errors)) => format!("{shown}  =>  {errors}"),
        other => panic!("{other:?}"),
    }
}

fn in_query(query: &str, rule: impl Fn(Cow<'_, str>) -> Result<u32, FieldError>) -> String {
    let mut form = query_fields(Some(query), &[F]);
    let value = form.optional(F, rule);
    match form.finish() {
        Ok(()) => format!("{query}  =>  {value:?}"),
        Err(errors) => format!("{query}  =>  {errors}"),
    }
}

#[test]
fn strings() {
    let rule = text(1..=3);
    let said = [
        r#""abc""#,
        r#""äöü""#,
        r#""👍🏽x""#,
        r#""""#,
        r#""abcd""#,
        r#""a\u0000""#,
        r#""\ud83d\ude00""#,
    ]
    .map(|json| says(json, &rule));
    insta::assert_snapshot!(said.join("\n"), @r#"
    "abc"  =>  "abc"
    "äöü"  =>  "äöü"
    "👍🏽x"  =>  "👍🏽x"
    ""  =>  f must be 1 to 3 characters, but has 0
    "abcd"  =>  f must be 1 to 3 characters, but has 4
    "a\u0000"  =>  f must not hold the character U+0000
    "\ud83d\ude00"  =>  "😀"
    "#);
    let said = ["1", "true", "null", "[]", "{}"].map(|json| says(json, &rule));
    insta::assert_snapshot!(said.join("\n"), @r"
    1  =>  f must be a string, but is a number
    true  =>  f must be a string, but is a boolean
    null  =>  f must be a string, but is null
    []  =>  f must be a string, but is an array
    {}  =>  f must be a string, but is an object
    ");
    assert_eq!(
        says(r#""abcd""#, text(0..=3)),
        r#""abcd"  =>  f must be at most 3 characters, but has 4"#
    );
    assert_eq!(says(r#""""#, text(0..=9)), r#"""  =>  """#);
}

#[test]
fn urls() {
    let said = [
        r#""https://example.com/ä?b#c""#,
        r#""urn:isbn:0451450523""#,
        r#""""#,
        r#""example.com/a.png""#,
        r#""/a.png""#,
        r#""https://""#,
        r#""https://example.com:99999/""#,
        r#"" https://example.com""#,
        r#""https://example.com/a b""#,
        r#""https://example.com/\n""#,
        "1",
    ]
    .map(|json| says(json, absolute_url));
    insta::assert_snapshot!(said.join("\n"), @r#"
    "https://example.com/ä?b#c"  =>  "https://example.com/ä?b#c"
    "urn:isbn:0451450523"  =>  "urn:isbn:0451450523"
    ""  =>  f must be an absolute URL such as https://example.com/a.png
    "example.com/a.png"  =>  f must be an absolute URL such as https://example.com/a.png
    "/a.png"  =>  f must be an absolute URL such as https://example.com/a.png
    "https://"  =>  f must be a URL, but does not parse: empty host
    "https://example.com:99999/"  =>  f must be a URL, but does not parse: invalid port number
    " https://example.com"  =>  f must be a URL, but holds spaces or control characters
    "https://example.com/a b"  =>  f must be a URL, but holds spaces or control characters
    "https://example.com/\n"  =>  f must be a URL, but holds spaces or control characters
    1  =>  f must be a string, but is a number
    "#);
}

#[test]
fn urls_and_model_ids_have_a_longest_length() {
    let of_length = |start: &str, length: usize| {
        format!("\"{start}{}\"", "é".repeat(length - start.chars().count()))
    };
    let url = |length| says(&of_length("https://example.com/", length), absolute_url);
    assert!(!url(2_048).contains("must be"));
    assert!(url(2_049).ends_with("must be at most 2048 characters, but has 2049"));
    let model = |length| says(&of_length("local/", length), model_id("local"));
    assert!(!model(256).contains("must be"));
    assert!(model(257).ends_with("must be at most 256 characters, but has 257"));
}

#[test]
fn model_ids() {
    let said = [
        r#""local/plasma""#,
        r#""local/ ""#,
        r#""local/a/b""#,
        r#""local/a\n""#,
        r#""local/""#,
        r#""local/\n""#,
        r#""local""#,
        r#""Local/plasma""#,
        r#""other/plasma""#,
        r#""xlocal/plasma""#,
        "1",
    ]
    .map(|json| says(json, model_id("local")));
    insta::assert_snapshot!(said.join("\n"), @r#"
    "local/plasma"  =>  "local/plasma"
    "local/ "  =>  "local/ "
    "local/a/b"  =>  "local/a/b"
    "local/a\n"  =>  "local/a\n"
    "local/"  =>  f must be a model id that begins with local/, such as local/name
    "local/\n"  =>  f must be a model id that begins with local/, such as local/name
    "local"  =>  f must be a model id that begins with local/, such as local/name
    "Local/plasma"  =>  f must be a model id that begins with local/, such as local/name
    "other/plasma"  =>  f must be a model id that begins with local/, such as local/name
    "xlocal/plasma"  =>  f must be a model id that begins with local/, such as local/name
    1  =>  f must be a string, but is a number
    "#);
}

#[test]
fn ids() {
    let said = [
        "1",
        "9223372036854775807",
        "0",
        "-0",
        "-7",
        "9223372036854775808",
        "-9223372036854775809",
        "100000000000000000000000000000000000",
        "1.0",
        "1.5",
        "1e2",
        "true",
        "null",
        r#""1""#,
        "[1]",
        "{}",
    ]
    .map(|json| says(json, id::<PromptId>));
    insta::assert_snapshot!(said.join("\n"), @r#"
    1  =>  PromptId(1)
    9223372036854775807  =>  PromptId(9223372036854775807)
    0  =>  PromptId(0)
    -0  =>  PromptId(0)
    -7  =>  PromptId(-7)
    9223372036854775808  =>  f must be an integer of 64 bits, but is 9223372036854775808
    -9223372036854775809  =>  f must be an integer of 64 bits, but is -9223372036854775809
    100000000000000000000000000000  =>  f must be an integer of 64 bits, but is 100000000000000000000000...
    1.0  =>  f must be an integer, but is 1.0
    1.5  =>  f must be an integer, but is 1.5
    1e2  =>  f must be an integer, but is 1e2
    true  =>  f must be an integer, but is a boolean
    null  =>  f must be an integer, but is null
    "1"  =>  f must be an integer, but is a string
    [1]  =>  f must be an integer, but is an array
    {}  =>  f must be an integer, but is an object
    "#);
}

#[test]
fn ids_from_1() {
    let said = ["1", "0", "-7", "1.0", "true"].map(|json| says(json, id_from_1::<PromptId>));
    insta::assert_snapshot!(said.join("\n"), @r"
    1  =>  PromptId(1)
    0  =>  f must be at least 1, but is 0
    -7  =>  f must be at least 1, but is -7
    1.0  =>  f must be an integer, but is 1.0
    true  =>  f must be an integer, but is a boolean
    ");
}

#[test]
fn words() {
    const WORDS: &[(&str, u8)] = &[("image", 1), ("text", 2), ("video", 3)];
    let said = [r#""text""#, r#""Text""#, r#""""#, r#""a word that is far too long""#, "2", "null"]
        .map(|json| says(json, one_of(WORDS)));
    insta::assert_snapshot!(said.join("\n"), @r#"
    "text"  =>  2
    "Text"  =>  f must be one of image, text, video, but is "Text"
    ""  =>  f must be one of image, text, video, but is ""
    "a word that is far too long"  =>  f must be one of image, text, video, but is "a word that is far too l..."
    2  =>  f must be a string, but is a number
    null  =>  f must be a string, but is null
    "#);
}

#[test]
fn lists() {
    let rule = list(1..=3, id::<PromptId>);
    let said = ["[1,2,3]", "[]", "[1,2,3,4,5]", r#"[1,"2",0]"#, "[[1]]", "1", "{}", "null"]
        .map(|json| says(json, &rule));
    insta::assert_snapshot!(said.join("\n"), @r#"
    [1,2,3]  =>  [PromptId(1), PromptId(2), PromptId(3)]
    []  =>  f must have 1 to 3 entries, but has 0
    [1,2,3,4,5]  =>  f must have 1 to 3 entries, but has 5
    [1,"2",0]  =>  f entry 2 must be an integer, but is a string
    [[1]]  =>  f entry 1 must be an integer, but is an array
    1  =>  f must be an array, but is a number
    {}  =>  f must be an array, but is an object
    null  =>  f must be an array, but is null
    "#);
    let many = format!("[{}1]", "1,".repeat(100_000));
    assert!(says(&many, &rule).ends_with("must have 1 to 3 entries, but has 100001"));
}

#[test]
fn integers_in_queries() {
    let said = [
        "f=1",
        "f=100",
        "f=007",
        "a=b",
        "",
        "f=0",
        "f=101",
        "f=-1",
        "f=99999999999999999999999999999",
        "f=+1",
        "f=1.0",
        "f=1e1",
        "f=x",
        "f=%31",
        "f=",
        "f",
        "f=1&f=1",
        "f=1&f=",
    ]
    .map(|query| in_query(query, integer_in_query(1..=100)));
    insta::assert_snapshot!(said.join("\n"), @r"
    f=1  =>  Some(1)
    f=100  =>  Some(100)
    f=007  =>  Some(7)
    a=b  =>  None
      =>  None
    f=0  =>  f must be 1 to 100, but is 0
    f=101  =>  f must be 1 to 100, but is 101
    f=-1  =>  f must be 1 to 100, but is -1
    f=99999999999999999999999999999  =>  f must be 1 to 100, but is 999999999999999999999999...
    f=+1  =>  f must be an integer in decimal digits
    f=1.0  =>  f must be an integer in decimal digits
    f=1e1  =>  f must be an integer in decimal digits
    f=x  =>  f must be an integer in decimal digits
    f=%31  =>  Some(1)
    f=  =>  f must not be empty; leave it out instead
    f  =>  f must not be empty; leave it out instead
    f=1&f=1  =>  f must be given once, but is given more than once
    f=1&f=  =>  f must be given once, but is given more than once
    ");
    let said = ["f=7", "f=0", "f=-7", "f=9223372036854775808", "f=x"]
        .map(|query| in_query(query, |given| id_in_query::<i64>()(given).map(|_| 0)));
    insta::assert_snapshot!(said.join("\n"), @r"
    f=7  =>  Some(0)
    f=0  =>  Some(0)
    f=-7  =>  Some(0)
    f=9223372036854775808  =>  f must be an integer of 64 bits, but is 9223372036854775808
    f=x  =>  f must be an integer in decimal digits
    ");
}

#[test]
fn bodies_that_are_no_objects() {
    let said = |body: &[u8]| json_fields(body, &[F]).map(drop).unwrap_err().to_string();
    let bodies: [&[u8]; 17] = [
        b"",
        b" \n",
        b"null",
        b"[]",
        b"\"f\"",
        b"1",
        b"{",
        b"{\"f\":}",
        b"{\"f\":1,}",
        b"{\"f\":1} x",
        b"{\n  \"f\": tru\n}",
        b"{'f':1}",
        b"{\"f\":\"\xff\"}",
        b"\xef\xbb\xbf{}",
        br#"{"f":"\ud800"}"#,
        b"{\n\"x\": [\"\\\\\\uD83D\\n\"]}",
        br#"{"f":"\uDE00\uD83D"}"#,
    ];
    insta::assert_snapshot!(bodies.map(said).join("\n"), @r"
    is empty, but must be a JSON object
    is empty, but must be a JSON object
    must be a JSON object, but is null
    must be a JSON object, but is an array
    must be a JSON object, but is a string
    must be a JSON object, but is a number
    is not JSON: EOF while parsing an object at line 1 column 1
    is not JSON: expected value at line 1 column 6
    is not JSON: trailing comma at line 1 column 8
    is not JSON: trailing characters at line 1 column 9
    is not JSON: expected ident at line 3 column 0
    is not JSON: key must be a string at line 1 column 2
    is not UTF-8 text: the byte at position 6 cannot be part of it
    is not JSON: expected value at line 1 column 1
    is not JSON: half a surrogate pair at line 1 column 7
    is not JSON: half a surrogate pair at line 2 column 10
    is not JSON: half a surrogate pair at line 1 column 7
    ");
}

#[test]
fn unknown_fields_are_passed_over_and_the_last_of_two_counts() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = format!(r#"{{"x":{deep},"f":1,"y":{{"f":2}},"\u0066":3}}"#);
    let mut form = json_fields(body.as_bytes(), &[F]).unwrap();
    assert_eq!(form.required(F, id::<i64>), Some(3));
    form.finish().unwrap();
}

proptest::proptest! {
    /// What is taken and what is not is what a full JSON reader says.
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
fn absent_and_null_are_told_apart() {
    let form = || json_fields(br#"{"null":null,"set":"x"}"#, &["absent", "null", "set"]).unwrap();
    let nullable = |name| form().nullable(name, text(0..=9));
    assert_eq!(nullable("absent"), None);
    assert_eq!(nullable("null"), Some(None));
    assert_eq!(nullable("set"), Some(Some(Arc::from("x"))));

    let mut optional = form();
    assert_eq!(optional.optional("absent", text(0..=9)), None);
    assert!(optional.is_clean());
    assert_eq!(optional.optional("null", text(0..=9)), None);
    assert_eq!(optional.errors().to_string(), "null must be a string, but is null");

    let mut required = form();
    assert_eq!(required.required("absent", text(0..=9)), None);
    assert_eq!(required.errors().to_string(), "absent is required");
}

#[test]
fn every_failing_field_is_told() {
    let mut form = json_fields(br#"{"title":"","prompt":1}"#, &["title", "prompt", "id"]).unwrap();
    form.required("title", text(1..=3));
    form.required("prompt", text(0..=9));
    form.required("id", id::<i64>);
    form.reject("prompt", "a second fault of one field is not told".to_owned());
    let errors = form.finish().unwrap_err();
    insta::assert_snapshot!(errors, @"3 fields are not valid: id, prompt, title; details says why");
    let all: Vec<_> = errors.iter().map(|(name, said)| format!("{name}: {said}")).collect();
    insta::assert_snapshot!(all.join("\n"), @r"
    id: is required
    prompt: must be a string, but is a number
    title: must be 1 to 3 characters, but has 0
    ");
}

fn read_object(value: &str) -> Result<Map<String, Value>, FieldError> {
    let body = format!(r#"{{"o":{value}}}"#);
    let mut form = json_fields(body.as_bytes(), &["o"]).unwrap();
    let object = form.required("o", object);
    object.ok_or_else(|| form.errors().iter().next().unwrap().1.to_owned())
}

#[test]
fn an_object_is_taken_as_it_is() {
    let object = read_object(r#"{"seed": 7, "a": {"b": [null, "c"]}}"#).unwrap();
    assert_eq!(Value::from(object).to_string(), r#"{"a":{"b":[null,"c"]},"seed":7}"#);
    assert!(read_object("{}").unwrap().is_empty());
}

#[test]
fn nothing_else_is_an_object() {
    for (value, kind) in [
        ("[]", "an array"),
        ("null", "null"),
        ("\"{}\"", "a string"),
        ("1", "a number"),
        ("true", "a boolean"),
    ] {
        assert_eq!(read_object(value), Err(format!("must be an object, but is {kind}")));
    }
}

#[test]
fn an_object_that_no_store_could_keep_is_an_error() {
    for value in [r#"{"a":"\u0000"}"#, r#"{"\u0000":1}"#, r#"{"a":[{"b\u0000":1}]}"#] {
        assert_eq!(read_object(value).unwrap_err(), "must not hold the character U+0000");
    }
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    assert!(read_object(&deep).unwrap_err().starts_with("must be an object, but cannot be read"));
    assert!(read_object(r#"{"a":1e999}"#).is_err());
}
