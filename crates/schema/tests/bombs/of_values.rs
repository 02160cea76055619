//! Bombs that a value sets off.

use callgate_schema::json::name_hash;

use crate::Bomb;
use crate::making::{array, check, doubled, formats_of, list, nested, object};

pub(crate) fn references() -> Vec<Bomb> {
    let chain = |keyword, leaf| {
        format!("{{\"$defs\":{{{}}},\"$ref\":\"#/$defs/l30\"}}", doubled(keyword, "$ref", "", leaf, 30))
    };
    let alike = r##"{"$defs":{"t":{"anyOf":[
        {"type":"object","properties":{"v":{"$ref":"#/$defs/t"}},"required":["v"]},
        {"type":"object","properties":{"v":{"$ref":"#/$defs/t"}},"required":["v"],"title":"again"},
        {"type":"array"}]}},"$ref":"#/$defs/t"}"##;
    let dynamic = |leaf: &str| {
        let levels = doubled("oneOf", "$dynamicRef", "\"$dynamicAnchor\":\"l?\",", leaf, 20);
        format!("{{\"$id\":\"urn:doubled\",\"$defs\":{{{levels}}},\"$dynamicRef\":\"#l20\"}}")
    };
    let resources = list(200, |at| {
        format!(
            r#""r{at}":{{"$id":"urn:r{at}","$dynamicAnchor":"own{at}","allOf":[{{"$ref":"urn:r{}"}}]}}"#,
            at + 1
        )
    });
    let scope = format!(
        r##"{{"$ref":"urn:r0","$defs":{{{resources},"r200":{{"$id":"urn:r200","items":{{"$dynamicRef":"#far"}},
            "$defs":{{"far":{{"$dynamicAnchor":"far","type":"integer"}}}}}}}}}}"##
    );
    vec![
        (
            "references: anyOf doubled, a scalar that no branch takes",
            check(chain("anyOf", r#""type":"array""#), "7"),
        ),
        (
            "references: anyOf doubled, an object that no branch takes",
            check(chain("anyOf", r#""type":"array""#), r#"{"k":7}"#),
        ),
        (
            "references: allOf doubled, a scalar that all take",
            check(chain("allOf", r#""type":"number""#), "7"),
        ),
        (
            "references: allOf doubled, a scalar that none takes",
            check(chain("allOf", r#""type":"array""#), "7"),
        ),
        ("references: oneOf doubled, both branches hold", check(chain("oneOf", r#""type":"number""#), "7")),
        (
            "references: oneOf doubled, an object without the member",
            check(chain("oneOf", r#""required":["m"]"#), r#"{"k":7}"#),
        ),
        ("references: two branches of one shape, a deep value", check(alike, nested(60, "7"))),
        ("references: two branches of one shape, a good value", check(alike, nested(60, "[]"))),
        ("references: a dynamic chain doubled", check(dynamic(r#""type":"array""#), "7")),
        (
            "references: a dynamic anchor behind 200 resources, 10,000 times",
            check(scope, array(10_000, |at| at.to_string())),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of rows")]
pub(crate) fn values() -> Vec<Bomb> {
    let wide = object(400, |at| format!("\"n{at}\":{at}"));
    let lists = array(100, |_| format!("{{\"required\":{}}}", array(400, |at| format!("\"n{at}\""))));
    let chosen = array(1_500, |at| format!("{{\"n\":[{at}]}}"));
    let rules = object(300, |at| format!("\"n{at}\":{}", array(100, |at| format!("\"n{at}\""))));
    vec![
        (
            "values: 15,000 distinct objects",
            check(r#"{"uniqueItems":true}"#, array(15_000, |at| format!("{{\"n\":{at},\"m\":[]}}"))),
        ),
        (
            "values: texts that begin alike",
            check(r#"{"uniqueItems":true}"#, array(1_000, |at| format!("\"{}{at}\"", "x".repeat(2_000)))),
        ),
        (
            "values: numbers of one value, spelled apart",
            check(r#"{"uniqueItems":true}"#, array(4_000, |at| format!("1{}e-{at}", "0".repeat(at)))),
        ),
        (
            "values: numbers of 4,000 digits",
            check(r#"{"items":{"multipleOf":7}}"#, array(300, |at| format!("{}{at}", "9".repeat(4_000)))),
        ),
        (
            "values: numbers of large exponents",
            check(r#"{"items":{"multipleOf":7e-4096}}"#, array(3_000, |_| "1e4096".to_owned())),
        ),
        (
            "values: a wide enum of objects",
            check(
                format!("{{\"items\":{{\"enum\":{chosen}}}}}"),
                array(1_500, |_| r#"{"n":[1499]}"#.to_owned()),
            ),
        ),
        (
            "values: a wide enum that is nearly kept",
            check(
                format!(
                    "{{\"items\":{{\"enum\":{}}}}}",
                    array(300, |at| format!("[\"{}\",{at}]", "x".repeat(900)))
                ),
                array(300, |_| format!("[\"{}\",-1]", "x".repeat(900))),
            ),
        ),
        (
            "values: a hundred lists of required members",
            check(format!("{{\"allOf\":{lists}}}"), wide.clone()),
        ),
        (
            "values: three hundred rules for members",
            check(format!("{{\"dependentRequired\":{rules}}}"), wide),
        ),
        (
            "values: contains within contains",
            check(
                r#"{"contains":{"contains":{"type":"null"}}}"#,
                array(250, |_| array(250, |at| at.to_string())),
            ),
        ),
        ("values: not within not", check(nested(100, "true").replace("\"v\"", "\"not\""), "7")),
        (
            "values: names of many branches",
            check(
                format!(
                    "{{\"propertyNames\":{{\"anyOf\":{}}}}}",
                    array(50, |at| format!("{{\"pattern\":\"^z{at}\"}}"))
                ),
                object(3_000, |at| format!("\"n{at}\":0")),
            ),
        ),
        (
            "values: 80,000 members that are not wanted",
            check(r#"{"additionalProperties":false}"#, object(80_000, |at| format!("\"n{at}\":0"))),
        ),
        (
            "values: names that share a hash",
            check(
                "{}",
                format!(
                    "{{{}}}",
                    colliding(1_000).map(|name| format!("\"{name}\":0")).collect::<Vec<_>>().join(",")
                ),
            ),
        ),
    ]
}

pub(crate) fn tracked() -> Vec<Bomb> {
    let within = |keyword: &str, levels: usize, inner: &str| {
        let open = format!("{{\"{keyword}\":false,\"allOf\":[").repeat(levels);
        format!("{open}{inner}{}", "]}".repeat(levels))
    };
    let branches = array(400, |at| format!("{{\"properties\":{{\"n{at}\":true}}}}"));
    vec![
        (
            "unevaluated: branches doubled",
            check(
                format!(
                    "{{\"$defs\":{{{}}},\"$ref\":\"#/$defs/l22\",\"unevaluatedProperties\":false}}",
                    doubled("allOf", "$ref", "", r#""properties":{"n":true}"#, 22)
                ),
                r#"{"n":7}"#,
            ),
        ),
        (
            "unevaluated: 400 branches of a member each",
            check(
                format!("{{\"anyOf\":{branches},\"unevaluatedProperties\":false}}"),
                object(400, |at| format!("\"n{at}\":0")),
            ),
        ),
        (
            "unevaluated: fifty levels over 4,000 members",
            check(
                within("unevaluatedProperties", 50, r#"{"additionalProperties":true}"#),
                object(4_000, |at| format!("\"n{at}\":0")),
            ),
        ),
        (
            "unevaluated: fifty levels over 10,000 items",
            check(within("unevaluatedItems", 50, r#"{"items":true}"#), array(10_000, |at| at.to_string())),
        ),
        (
            "unevaluated: items that contains has found",
            check(
                r#"{"contains":{"type":"number"},"unevaluatedItems":false}"#,
                array(40_000, |at| at.to_string()),
            ),
        ),
        (
            "unevaluated: 30,000 members left over",
            check(r#"{"unevaluatedProperties":false}"#, object(30_000, |at| format!("\"n{at}\":0"))),
        ),
    ]
}

pub(crate) fn reports() -> Vec<Bomb> {
    let branches = array(60, |at| {
        let members = object(15, |at| format!("\"n{at}\":{{\"type\":\"integer\"}}"));
        format!("{{\"properties\":{members},\"required\":[\"m{at}\"]}}")
    });
    let wrong = object(15, |at| format!("\"n{at}\":\"x\""));
    let unions = |levels| {
        (0..levels)
            .fold(r#"{"type":"array"}"#.to_owned(), |inner, _| format!("{{\"anyOf\":[{inner},{inner}]}}"))
    };
    let lists = |levels| {
        (0..levels).fold(r#"{"type":"null"}"#.to_owned(), |inner, _| {
            format!("{{\"anyOf\":[{{\"items\":{inner}}},{{\"items\":{inner},\"minItems\":1}}]}}")
        })
    };
    let deep = (0..7).fold("7".to_owned(), |inner, _| format!("[{inner},{inner},{inner}]"));
    vec![
        (
            "reports: 80,000 items of another type",
            check(r#"{"items":{"type":"null"}}"#, array(80_000, |at| at.to_string())),
        ),
        (
            "reports: sixty branches for 300 items",
            check(format!("{{\"items\":{{\"anyOf\":{branches}}}}}"), array(300, |_| wrong.clone())),
        ),
        ("reports: unions within unions", check(unions(12), "7")),
        ("reports: unions of lists within lists", check(lists(8), deep)),
        (
            "reports: 9,000 branches for a number",
            check(format!("{{\"oneOf\":{}}}", array(9_000, |at| format!("{{\"minimum\":{at}}}"))), "-1"),
        ),
        (
            "reports: 4,000 misspelt members",
            check(
                format!(
                    "{{\"properties\":{},\"additionalProperties\":false}}",
                    object(4_000, |at| format!("\"some_name_{at}\":true"))
                ),
                object(4_000, |at| format!("\"sume_nane_{at}\":0")),
            ),
        ),
        (
            "reports: misspelt members of 4,000 letters",
            check(
                format!(
                    "{{\"properties\":{},\"additionalProperties\":false}}",
                    object(100, |at| format!("\"{}{at}\":true", "n".repeat(4_000)))
                ),
                object(100, |at| format!("\"{}m{at}\":0", "n".repeat(4_000))),
            ),
        ),
        (
            "reports: 15,000 members that are missing",
            check(
                format!("{{\"required\":{}}}", array(15_000, |at| format!("\"n{at}\""))),
                object(3_000, |at| format!("\"m{at}\":0")),
            ),
        ),
    ]
}

pub(crate) fn glances() -> Vec<Bomb> {
    let tree = r##"{"$defs":{"t":{"anyOf":[
        {"type":"object","properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}},"required":["m"]},
        {"type":"object","properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}},"required":["n"]},
        {"type":"object","properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}}},
        {"type":"null"}]}},"$ref":"#/$defs/t"}"##;
    let full = (0..11).fold("null".to_owned(), |inner, _| format!("{{\"l\":{inner},\"r\":{inner}}}"));
    let one = tree.replace("anyOf", "oneOf");
    let tagged = array(64, |at| {
        format!(
            r#"{{"properties":{{"tag":{{"const":"t{at}"}},"l":{{"items":{{"type":"integer"}}}}}},"required":["tag","l"]}}"#
        )
    });
    let overlapping = array(60, |at| format!(r#"{{"properties":{{"l":{{"items":{{"maximum":{at}}}}}}}}}"#));
    vec![
        ("glances: a full tree whose first branches never hold", check(tree, full)),
        ("glances: a chain through oneOf", check(one, nested(100, "null").replace("\"v\"", "\"l\""))),
        (
            "glances: 64 branches that a late tag tells apart",
            check(
                format!("{{\"items\":{{\"oneOf\":{tagged}}}}}"),
                array(500, |_| format!("{{\"l\":{},\"tag\":\"t63\"}}", array(100, |at| at.to_string()))),
            ),
        ),
        (
            "glances: sixty branches that differ at the end of a list",
            check(
                format!("{{\"items\":{{\"anyOf\":{overlapping}}}}}"),
                array(100, |_| format!("{{\"l\":{}}}", array(61, |at| (60 - at).to_string()))),
            ),
        ),
        (
            "glances: 64 patterns for each text",
            check(
                format!(
                    "{{\"items\":{{\"anyOf\":{}}}}}",
                    array(64, |at| format!("{{\"type\":\"string\",\"pattern\":\"^x*y{{{at}}}$\"}}"))
                ),
                array(30, |_| format!("\"{}z\"", "x".repeat(2_000))),
            ),
        ),
    ]
}

pub(crate) fn formats() -> Vec<Bomb> {
    let one = |format: &str, text: String| {
        formats_of(&format!("{{\"format\":\"{format}\"}}"), format!("\"{text}\""))
    };
    vec![
        ("formats: a long address", one("email", format!("{}@x", "x.".repeat(50_000)))),
        ("formats: a long name of a host", one("hostname", "x".repeat(63) + &".x".repeat(50_000))),
        ("formats: a long international name", one("idn-hostname", "é".repeat(60_000))),
        ("formats: marks without end", one("idn-hostname", "\u{301}".repeat(40_000))),
        ("formats: a long URI", one("uri", format!("x://{}", "%2F".repeat(40_000)))),
        ("formats: a long template", one("uri-template", format!("{{{}x}}", "x,".repeat(60_000)))),
        ("formats: a long pointer", one("json-pointer", "/~1".repeat(40_000))),
        ("formats: a long duration", one("duration", format!("P{}D", "7".repeat(100_000)))),
        ("formats: a long second", one("time", format!("12:00:00.{}Z", "7".repeat(100_000)))),
        ("formats: colons", one("ipv6", ":".repeat(100_000))),
        (
            "formats: groups within groups",
            one("regex", format!("{}x{}", "(".repeat(60_000), ")".repeat(60_000))),
        ),
        (
            "formats: large classes",
            formats_of(
                r#"{"items":{"format":"regex"}}"#,
                array(30, |_| format!("\"{}\"", r"[\\p{L}\\P{Lu}\\p{Script=Greek}]".repeat(40))),
            ),
        ),
    ]
}

/// Names of which a table of so many members puts all in one place.
fn colliding(count: usize) -> impl Iterator<Item = String> {
    let places = (count * 4).next_power_of_two();
    let names = (0u32..).map(|number| format!("{number:x}"));
    names.filter(move |name| name_hash(name) >> (32 - places.trailing_zeros()) == 0).take(count)
}
