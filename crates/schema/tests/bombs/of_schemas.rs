//! Bombs that a schema, a pattern, a coercion or a digest sets off.

use callgate_schema::Profile;

use crate::Bomb;
use crate::Question::{self, Digest};
use crate::making::{array, check, coerce, doubled, list, nested, object, pattern, preflight};

pub(crate) fn patterns() -> Vec<Bomb> {
    let text = |length| "x".repeat(length);
    let asked_by_not = r#"{"not":{"pattern":"^(x+)+\\1;$"}}"#;
    let six = object(6, |at| format!(r#""n{at}":{{"pattern":"^(x+)+(?!y)\\1;{at}$"}}"#));
    let many = array(30, |at| format!("{{\"pattern\":\"^(?=x*y)z{at}\"}}"));
    let names = object(40, |at| format!(r#""^(n+)+\\1;{at}$":{{}}"#));
    vec![
        ("patterns: nested repetitions", pattern("^(x+)+$", text(40) + ";")),
        ("patterns: nested repetitions with a backreference", pattern(r"^(x+)+\1;$", text(40))),
        ("patterns: nested repetitions in a lookahead", pattern("^(?=(x+)+$)x+$", text(40) + ";")),
        ("patterns: lookaheads within lookaheads", pattern("(?=(?=(?=x*)x*)x*)y", text(3_000))),
        ("patterns: a lookbehind at each place", pattern("(?<=^x*)y", text(3_000) + "y")),
        ("patterns: a lookahead at each place of a long text", pattern("(?=x*y)z", text(100_000))),
        ("patterns: empty rounds", pattern("(?:(?:(?:)*)*)*(?=x)", text(1_000))),
        ("patterns: optional parts that come back", pattern("(?:x?){64}(?=)x{64}", text(64))),
        ("patterns: large classes in counts", pattern(r"^(?:[\p{L}\p{M}_]{1,70}-){1,50}$", "xy-z-")),
        ("patterns: counts within counts", pattern("(?:(?:(?:x{1,60}){1,60}){1,60}){1,60}", text(100))),
        ("patterns: states that double", pattern("(?:x|y)*x(?:x|y){20}", "xy".repeat(5_000))),
        ("patterns: one class many times", pattern(r"[\p{L}\P{Lu}]".repeat(4_000), "x")),
        ("patterns: groups to the limit", pattern(format!("{}x{}", "(".repeat(250), ")".repeat(250)), "x")),
        (
            "patterns: groups beyond it",
            pattern(format!("{}x{}", "(".repeat(20_000), ")".repeat(20_000)), "x"),
        ),
        (
            "patterns: 8,000 alternatives",
            pattern(list(8_000, |at| format!("x{at}")).replace(',', "|"), "x7999"),
        ),
        ("patterns: within not", check(asked_by_not, format!("\"{}\"", text(40)))),
        (
            "patterns: six in one object",
            check(
                format!("{{\"properties\":{six}}}"),
                object(6, |at| format!("\"n{at}\":\"{}\"", text(40 + at))),
            ),
        ),
        (
            "patterns: thirty branches for thirty texts",
            check(
                format!("{{\"items\":{{\"anyOf\":{many}}}}}"),
                array(30, |_| format!("\"{}\"", text(2_000))),
            ),
        ),
        (
            "patterns: forty for each name",
            check(
                format!("{{\"patternProperties\":{names}}}"),
                object(40, |at| format!("\"{}{at}\":0", "n".repeat(36))),
            ),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of rows")]
pub(crate) fn coercions() -> Vec<Bomb> {
    let numbers = r#"{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}"#;
    let texts = |count, text: &str| format!("{{\"l\":{}}}", array(count, |_| format!("\"{text}\"")));
    let tree = r##"{"type":"object","properties":{"v":{"$ref":"#/$defs/t"}},"$defs":{"t":{"anyOf":[
        {"type":"object","properties":{"v":{"$ref":"#/$defs/t"}},"required":["v"]},
        {"type":"object","properties":{"v":{"$ref":"#/$defs/t"}},"required":["v"],"title":"again"},
        {"type":"integer"}]}}}"##;
    let open = r#"{"type":"object","properties":{"v":{"type":"object"}}}"#;
    let long = "n".repeat(4_000);
    let named = format!(
        r#"{{"type":"object","properties":{{"{long}":{{"type":"array","items":{{"type":"integer"}}}}}}}}"#
    );
    let many = format!("{{\"{long}\":{}}}", array(5_000, |_| "\"1\"".to_owned()));
    let conditions = array(1_500, |at| {
        format!(
            r#"{{"if":{{"properties":{{"n":{{"const":{at}}}}}}},"then":{{"properties":{{"m":{{"type":"integer"}}}}}}}}"#
        )
    });
    let mut wrapped = r#"{"n":1}"#.to_owned();
    for _ in 0..12 {
        wrapped = format!("{{\"v\":{}}}", serde_json::to_string(&wrapped).expect("a text is JSON"));
    }
    let two = [("wire", Profile::Wire), ("standard", Profile::Standard)];
    let mut bombs = vec![
        (
            "coercion: two alternatives of one shape, a deep text",
            coerce(Profile::Standard, tree, nested(60, "\"1\"")),
        ),
        (
            "coercion: two alternatives of one shape, in vain",
            coerce(Profile::Standard, tree, nested(60, "\"x\"")),
        ),
        (
            "coercion: 1,500 conditions",
            coerce(
                Profile::Standard,
                format!("{{\"type\":\"object\",\"allOf\":{conditions}}}"),
                r#"{"n":7,"m":"1"}"#,
            ),
        ),
        (
            "coercion: a list in a text that no alternative takes",
            coerce(
                Profile::Standard,
                r#"{"type":"object","properties":{"l":{"anyOf":[{"type":"array","minItems":1000000},{"type":"string","maxLength":1}]}}}"#,
                format!("{{\"l\":\"{}\"}}", array(100_000, |_| "1".to_owned())),
            ),
        ),
    ];
    for (name, profile) in two {
        let wire = name == "wire";
        let named_bombs: [(&str, &str, Question); 5] = [
            (
                "coercion, wire: texts in texts",
                "coercion, standard: texts in texts",
                coerce(profile, open, wrapped.clone()),
            ),
            (
                "coercion, wire: 50,000 texts",
                "coercion, standard: 50,000 texts",
                coerce(profile, numbers, texts(50_000, "17")),
            ),
            (
                "coercion, wire: 50,000 texts of nothing",
                "coercion, standard: 50,000 texts of nothing",
                coerce(profile, numbers, texts(50_000, "x")),
            ),
            (
                "coercion, wire: long numbers",
                "coercion, standard: long numbers",
                coerce(profile, numbers, texts(200, &"9".repeat(4_000))),
            ),
            (
                "coercion, wire: edits with long names",
                "coercion, standard: edits with long names",
                coerce(profile, named.clone(), many.clone()),
            ),
        ];
        bombs.extend(named_bombs.map(|(a, b, question)| (if wire { a } else { b }, question)));
    }
    bombs
}

#[expect(clippy::too_many_lines, reason = "a table of rows")]
pub(crate) fn schemas() -> Vec<Bomb> {
    let tool = |rest: String| preflight(format!("{{\"type\":\"object\",{rest}}}"));
    let properties = |count: usize, schema: &dyn Fn(usize) -> String| {
        format!("\"properties\":{}", object(count, |at| format!("\"n{at}\":{}", schema(at))))
    };
    let doubled = doubled("anyOf", "$ref", "", r#""type":"array""#, 24);
    let shared = format!(
        "{},\"$defs\":{{{doubled}}}",
        properties(400, &|_| { r##"{"$ref":"#/$defs/l24","default":7}"##.to_owned() })
    );
    let chain = object(9_000, |at| format!("\"n{}\":{{\"$ref\":\"#/$defs/n{at}\"}}", at + 1));
    vec![
        ("schemas: 400 defaults of a doubled chain", tool(shared)),
        (
            "schemas: 100 defaults against backtracking",
            tool(properties(100, &|at| {
                format!(r#"{{"type":"string","pattern":"^(x+)+\\1;{at}$","default":"{}"}}"#, "x".repeat(40))
            })),
        ),
        (
            "schemas: 7,000 members that have no place",
            tool(format!(
                "{},\"required\":{},\"additionalProperties\":false",
                properties(7_000, &|_| "true".to_owned()),
                array(7_000, |at| format!("\"m{at}\""))
            )),
        ),
        ("schemas: 4,000 misspelt keywords", tool(properties(4_000, &|at| format!("{{\"minimun{at}\":1}}")))),
        ("schemas: a keyword of 100,000 letters", tool(format!("\"{}\":1", "n".repeat(100_000)))),
        (
            "schemas: sixty keywords of 5,000 letters",
            tool(list(60, |at| format!("\"{}{at}\":1", "minimum".repeat(700)))),
        ),
        (
            "schemas: a chain of 9,000 references",
            tool(format!("\"$ref\":\"#/$defs/n9000\",\"$defs\":{}", chain.replacen('{', "{\"n0\":true,", 1))),
        ),
        (
            "schemas: 8,000 references that lead nowhere",
            tool(format!(
                "{},\"$defs\":{}",
                properties(8_000, &|at| format!("{{\"$ref\":\"#/$defs/m{at}\"}}")),
                object(4_000, |at| format!("\"k{at}\":true"))
            )),
        ),
        (
            "schemas: 8,000 references into a list",
            tool(format!(
                "{},\"allOf\":{}",
                properties(8_000, &|at| format!("{{\"$ref\":\"#/allOf/{at}\"}}")),
                array(8_000, |_| "true".to_owned())
            )),
        ),
        (
            "schemas: 5,000 dynamic references to 5,000 anchors",
            tool(format!(
                "{},\"$defs\":{}",
                properties(5_000, &|at| format!("{{\"$dynamicRef\":\"#a{at}\"}}")),
                object(5_000, |at| format!("\"k{at}\":{{\"$dynamicAnchor\":\"a{at}\"}}"))
            )),
        ),
        (
            "schemas: 10,000 references to the root",
            tool(properties(10_000, &|_| r##"{"$ref":"#"}"##.to_owned())),
        ),
        (
            "schemas: loops without end",
            tool(format!(
                "\"$ref\":\"#/$defs/n0\",\"$defs\":{}",
                object(5_000, |at| format!("\"n{at}\":{{\"$ref\":\"#/$defs/n{}\"}}", (at + 1) % 5_000))
            )),
        ),
        (
            "schemas: 9,000 alternatives",
            tool(format!(
                "\"properties\":{{\"n\":{{\"anyOf\":{}}}}}",
                array(9_000, |at| format!("{{\"const\":{at}}}"))
            )),
        ),
        (
            "schemas: 200 patterns of large classes",
            tool(properties(200, &|at| format!(r#"{{"pattern":"^[\\p{{L}}\\p{{N}}]{{1,{}}}$"}}"#, at + 20))),
        ),
        (
            "schemas: an enum that its type excludes",
            tool(format!(
                "\"properties\":{{\"n\":{{\"type\":\"integer\",\"enum\":{}}}}}",
                array(15_000, |at| format!("\"{at}\""))
            )),
        ),
        (
            "schemas: bounds of 3,000 digits that cross",
            tool(properties(80, &|_| format!("{{\"minimum\":{},\"maximum\":1}}", "9".repeat(3_000)))),
        ),
    ]
}

pub(crate) fn digests() -> Vec<Bomb> {
    let of = |value: String| Digest { value };
    vec![
        (
            "digests: names that begin alike",
            of(object(10_000, |at| format!("\"{}{}\":0", "n".repeat(150), at * 7_919 % 10_000))),
        ),
        (
            "digests: names with escapes",
            of(object(20_000, |at| format!(r#""\u006e{}":0"#, at * 7_919 % 20_000))),
        ),
        ("digests: numbers of large exponents", of(array(20_000, |_| "1e4096".to_owned()))),
        ("digests: a text of escapes", of(format!("\"{}\"", r"\u0007".repeat(50_000)))),
    ]
}
