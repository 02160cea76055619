//! The tool servers of a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use callgate_gateway::catalog::PinIgnore;
use callgate_schema::Profile;

use super::{Admission, AdmissionForm, Loader, Place, ProfileForm, Text, TextOrSecret, Upstream, profile};
use crate::config::form::UpstreamForm;

/// Parts of names whose values are secrets, in lower case.
const SECRET_NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "auth",
    "api-key",
    "api_key",
    "apikey",
    "cookie",
    "credential",
    "private",
];

impl Loader<'_> {
    pub(super) fn upstreams(
        &mut self,
        forms: &[UpstreamForm],
        default_profile: Option<ProfileForm>,
        folder: &Path,
    ) -> Vec<Upstream> {
        let mut names = BTreeSet::new();
        let default_profile = default_profile.map_or(Profile::Standard, profile);
        let mut upstreams = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let at = index.to_string();
            if !names.insert(form.name.as_str()) {
                let message =
                    format!("expected a name that no other upstream has, found `{}` again", form.name);
                self.fault(&["upstreams", &at, "name"], message, None);
            }
            let pin_ignore = self.pin_ignore(&at, form);
            let Some(place) = self.place(&at, form, folder) else { continue };
            upstreams.push(Upstream {
                name: form.name.clone(),
                place,
                prefix: form.prefix.clone(),
                admission: match form.admission {
                    Some(AdmissionForm::Strict) => Admission::Strict,
                    Some(AdmissionForm::Quarantine) | None => Admission::Quarantine,
                },
                profile: form.profile.map_or(default_profile, profile),
                pin_ignore,
            });
        }
        upstreams
    }

    fn pin_ignore(&mut self, at: &str, form: &UpstreamForm) -> PinIgnore {
        let Some(pin) = &form.pin else { return PinIgnore::default() };
        let mut good = true;
        for (number, pointer) in pin.ignore.iter().enumerate() {
            if let Err(error) = PinIgnore::new(&[pointer]) {
                self.fault(&["upstreams", at, "pin", "ignore", &number.to_string()], error.to_string(), None);
                good = false;
            }
        }
        if !good {
            return PinIgnore::default();
        }
        PinIgnore::new(&pin.ignore).unwrap_or_else(|error| {
            self.fault(&["upstreams", at, "pin", "ignore"], error.to_string(), None);
            PinIgnore::default()
        })
    }

    fn place(&mut self, at: &str, form: &UpstreamForm, folder: &Path) -> Option<Place> {
        match (&form.command, &form.url) {
            (Some(command), None) => {
                if !form.headers.is_empty() {
                    self.misplaced(at, "headers", "a program that is started", "env");
                }
                self.keeps_no_secret(at, "env", &form.env);
                Some(Place::Command {
                    command: command.clone(),
                    args: form.args.clone(),
                    env: texts(&form.env, folder),
                    cwd: form.cwd.as_ref().map(|cwd| folder.join(cwd)),
                })
            }
            (None, Some(url)) => {
                let of_commands = [
                    ("args", !form.args.is_empty()),
                    ("env", !form.env.is_empty()),
                    ("cwd", form.cwd.is_some()),
                ];
                for (key, _) in of_commands.into_iter().filter(|(_, there)| *there) {
                    self.misplaced(at, key, "an address", "headers");
                }
                self.check_url(at, url);
                self.keeps_no_secret(at, "headers", &form.headers);
                Some(Place::Url { url: url.clone(), headers: texts(&form.headers, folder) })
            }
            (command, _) => {
                let found = if command.is_some() { "both" } else { "neither" };
                let message = format!("expected one of `command` and `url`, found {found}");
                self.fault(&["upstreams", at], message, None);
                None
            }
        }
    }

    fn misplaced(&mut self, at: &str, key: &str, of: &str, instead: &str) {
        let message = format!("expected no `{key}` of {of}, found some");
        self.fault(&["upstreams", at, key], message, Some(&format!("leave it out, or write `{instead}`")));
    }

    fn check_url(&mut self, at: &str, url: &str) {
        let path = ["upstreams", at, "url"];
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let Some(rest) = rest else {
            self.fault(
                &path,
                "expected an address that begins with `https://` or `http://`, found another text",
                None,
            );
            return;
        };
        if rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
            let help = "put it into a header: `headers = { Authorization = { env = \"NAME\" } }`";
            self.fault(&path, "expected an address without a user or a password, found one with", Some(help));
        }
    }

    /// A value whose name says that it is a secret has to be a reference to one.
    fn keeps_no_secret(&mut self, at: &str, key: &str, entries: &BTreeMap<String, TextOrSecret>) {
        for (name, value) in entries {
            let lower = name.to_ascii_lowercase();
            let secret = SECRET_NAMES.iter().any(|part| lower.contains(part)) || lower.ends_with("key");
            if secret && matches!(value, TextOrSecret::Text(_)) {
                let help =
                    format!("name a variable or a file that holds it: `{name} = {{ env = \"NAME\" }}`");
                self.fault(
                    &["upstreams", at, key, name],
                    "expected a reference to a secret, by its name, found a text",
                    Some(&help),
                );
            }
        }
    }
}

fn texts(entries: &BTreeMap<String, TextOrSecret>, folder: &Path) -> Vec<(String, Text)> {
    let text = |value: &TextOrSecret| match value {
        TextOrSecret::Text(text) => Text::Plain(text.clone()),
        TextOrSecret::Secret(secret) => Text::Secret(secret.beside(folder)),
    };
    entries.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}
