//! The formats of `format` (2020-12 and draft-07 validation, section 7.3): one table, and a file for each family.
//!
//! To add one: its function in the file of its family, a row here, rows in `cases/worker/formats.jsonl`.

mod duration;
mod host;
mod idna;
mod mail;
mod pattern;
mod pointer;
mod template;
mod time;
mod uri;
mod uuid;

macro_rules! formats {
    ($($variant:ident $name:literal $good:literal $holds:path,)*) => {
        /// A format that is known here.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Format {
            $($variant,)*
        }

        impl Format {
            #[cfg(test)]
            const ALL: &[Format] = &[$(Format::$variant,)*];

            pub(crate) fn from_name(name: &str) -> Option<Format> {
                match name {
                    $($name => Some(Format::$variant),)*
                    _ => None,
                }
            }

            /// As written in schemas.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Format::$variant => $name,)*
                }
            }

            /// What a good text is, with an example, after "expected".
            pub(crate) const fn good(self) -> &'static str {
                match self {
                    $(Format::$variant => $good,)*
                }
            }

            /// Whether a text has the format. Takes time linear in the text.
            pub(crate) fn holds(self, text: &str) -> bool {
                match self {
                    $(Format::$variant => $holds(text),)*
                }
            }
        }
    };
}

formats! {
    DateTime "date-time" "a date-time such as `2026-11-30T12:00:00Z`" time::is_date_time,
    Date "date" "a date such as `2026-11-30`" time::is_date,
    Time "time" "a time with its offset such as `12:00:00Z` or `12:00:00+02:00`" time::is_time,
    Duration "duration" "a duration such as `P1DT12H` or `PT30M`" duration::is_duration,
    Email "email" "an e-mail address such as `ana@example.com`" mail::is_email,
    IdnEmail "idn-email" "an e-mail address such as `josé@bücher.example`" mail::is_idn_email,
    Hostname "hostname" "a host name such as `www.example.com`" host::is_hostname,
    IdnHostname "idn-hostname" "a host name such as `bücher.example`, in lower case" host::is_idn_hostname,
    Ipv4 "ipv4" "an IPv4 address such as `192.0.2.7`" host::is_ipv4,
    Ipv6 "ipv6" "an IPv6 address such as `2001:db8::7`" host::is_ipv6,
    Uri "uri" "a URI with its scheme such as `https://example.com/a%20b`" uri::is_uri,
    UriReference "uri-reference" "a URI or a relative reference such as `/a%20b?q=1`" uri::is_uri_reference,
    Iri "iri" "an IRI with its scheme such as `https://bücher.example/größe`" uri::is_iri,
    IriReference "iri-reference" "an IRI or a relative reference such as `/größe?q=1`" uri::is_iri_reference,
    Uuid "uuid" "a UUID such as `0f8fad5b-d9cb-469f-a165-70867728950e`" uuid::is_uuid,
    UriTemplate "uri-template" "a URI template such as `/users/{id}{?page}`" template::is_uri_template,
    JsonPointer "json-pointer" "a JSON Pointer such as `/items/0` or an empty text" pointer::is_json_pointer,
    RelativeJsonPointer "relative-json-pointer" "a relative JSON Pointer such as `1/name` or `0#`" pointer::is_relative_json_pointer,
    Regex "regex" "a regular expression of ECMA-262 such as `^[a-z]+$`" pattern::is_regex,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_the_messages_are_good() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(*format));
            let examples: Vec<&str> = format.good().split('`').skip(1).step_by(2).collect();
            assert!(!examples.is_empty(), "{format:?}");
            for example in examples {
                assert!(format.holds(example), "{format:?}: {example}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_text_has_an_answer(text in any::<String>(), at in 0..40_usize) {
            for format in Format::ALL {
                format.holds(&text);
                let mut near = format.good().split('`').nth(1).unwrap_or_default().to_owned();
                let at = (0..=at.min(near.len())).rev().find(|at| near.is_char_boundary(*at)).unwrap_or(0);
                near.insert_str(at, &text);
                format.holds(&near);
            }
        }
    }
}
