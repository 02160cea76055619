//! Who runs the process, as the operating system knows them.

/// The name of the user whose process this is: by the user database, else as the environment says, else the number.
#[expect(clippy::disallowed_methods, reason = "this crate is where files and the environment are read")]
pub fn user_name() -> String {
    let number = number();
    // The environment is what anybody sets, so the database comes first.
    let database = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    number
        .and_then(|number| name_in(&database, number))
        .or_else(|| {
            let named = |name: &&str| std::env::var(name).ok().filter(|user| !user.is_empty());
            ["USER", "LOGNAME", "USERNAME"].iter().find_map(named)
        })
        .or_else(|| number.map(|number| format!("uid-{number}")))
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn number() -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn number() -> Option<u32> {
    None
}

fn name_in(database: &str, number: u32) -> Option<String> {
    database.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let database = "root:x:0:0:root:/root:/bin/sh\nbroken\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_in(database, 1000).as_deref(), Some("ada"));
        assert_eq!(name_in(database, 0).as_deref(), Some("root"));
        assert_eq!(name_in(database, 7), None);
    }
}
