//! Where a store on PostgreSQL is, and how a gate keeps its lease there: one address.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use callgate_gateway::JournalError;
use callgate_wire::Code;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::tls::{Certificates, Tls};

/// The schema that the records are in unless the address names another.
pub const SCHEMA_DEFAULT: &str = "callgate";
/// How long a lease lasts unless the address says otherwise.
pub const LEASE_MS_DEFAULT: u64 = 10_000;
/// How often a lease is moved on unless the address says otherwise.
pub const RENEWAL_MS_DEFAULT: u64 = 3_000;
/// The shortest and the longest lease. A shorter one would pass while a busy machine lets the gate wait for its turn; with
/// a longer one nobody learns for too long of a gate that is gone.
pub const LEASE_MS_RANGE: std::ops::RangeInclusive<u64> = 1_000..=600_000;
/// Connections for reading unless the address says otherwise; writing has one of its own.
pub const READERS_DEFAULT: usize = 4;
/// The most connections for reading.
pub const READERS_MAX: usize = 64;
/// How long a connection may take unless the address says otherwise.
const CONNECT_MS_DEFAULT: u64 = 5_000;

/// The address of a store on PostgreSQL, as `postgres://user@host/database?sslmode=verify-full`.
///
/// The parameters are those of PostgreSQL's own addresses, and these: `schema` (letters, digits and `_`, in lower case),
/// `lease_ms`, `renewal_ms` (at most a third of the lease) and `readers`. Neither `Debug` nor `Display` shows the password.
///
/// ```
/// use callgate_store::PostgresPlace;
///
/// let place = PostgresPlace::parse("postgres://gate:secret@db.example/calls?sslmode=verify-full")?;
/// assert_eq!(place.to_string(), "postgres://gate@db.example/calls");
/// assert!(!format!("{place:?}").contains("secret"));
/// # Ok::<(), callgate_gateway::JournalError>(())
/// ```
#[derive(Clone)]
pub struct PostgresPlace {
    config: Config,
    tls: Tls,
    schema: String,
    lease: Duration,
    renewal: Duration,
    readers: usize,
    shown: String,
    has_password: bool,
}

impl PostgresPlace {
    /// Whether a text is meant as an address of PostgreSQL.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Reads an address.
    ///
    /// # Errors
    ///
    /// `store-unavailable` for a text that is no such address. The message does not repeat it.
    pub fn parse(address: &str) -> Result<PostgresPlace, JournalError> {
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let mut own = Own::default();
        let mut passed_on = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| wrong("`name=value` after `?`"))?;
            if !own.take(name, &decoded(value)?)? {
                passed_on.push(pair);
            }
        }
        let address = format!("{base}?{}", passed_on.join("&"));
        // What the parser says quotes names of parameters, and nothing of their values.
        let mut config: Config =
            address.parse().map_err(|error| wrong("an address of PostgreSQL").caused_by(error))?;
        if config.get_application_name().is_none() {
            config.application_name("callgate");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_millis(CONNECT_MS_DEFAULT));
        }
        let mode = own.ssl_mode.as_deref().unwrap_or("prefer");
        let tls = Tls::of(mode, own.certificates).ok_or_else(|| {
            wrong("`sslmode` to be `disable`, `prefer`, `require`, `verify-ca` or `verify-full`")
        })?;
        config.ssl_mode(tls.mode());
        let lease = own.lease_ms.unwrap_or(LEASE_MS_DEFAULT);
        let renewal = own.renewal_ms.unwrap_or_else(|| RENEWAL_MS_DEFAULT.min(lease / 3));
        if !LEASE_MS_RANGE.contains(&lease) || renewal == 0 || renewal > lease / 3 {
            return Err(wrong("`lease_ms` from 1000 to 600000 and `renewal_ms` of at most a third of it"));
        }
        Ok(PostgresPlace {
            shown: shown(&config),
            has_password: config.get_password().is_some(),
            config,
            tls,
            schema: own.schema.unwrap_or_else(|| SCHEMA_DEFAULT.to_owned()),
            lease: Duration::from_millis(lease),
            renewal: Duration::from_millis(renewal),
            readers: own.readers.unwrap_or(READERS_DEFAULT),
        })
    }

    /// Takes this password where the address has none.
    #[must_use]
    pub fn or_password(mut self, password: Option<&str>) -> PostgresPlace {
        if let (None, Some(password)) = (self.config.get_password(), password) {
            self.config.password(password);
        }
        self
    }

    /// Whether the address itself has a password in it.
    pub fn address_has_password(&self) -> bool {
        self.has_password
    }

    /// Whether somebody between the gate and the server could pass for the server: true unless its certificate is verified
    /// or it is on this machine.
    pub fn trusts_the_network(&self) -> bool {
        let local = |host: &Host| match host {
            Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
            Host::Unix(_) => true,
        };
        !self.tls.verifies() && !self.config.get_hosts().iter().all(local)
    }

    /// The schema that the records are in.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// How long a lease lasts.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// How often a lease is moved on.
    pub fn renewal(&self) -> Duration {
        self.renewal
    }

    pub(super) fn readers(&self) -> usize {
        self.readers
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    /// After so long without a word inside a transaction the server ends it, so that the locks of a gate that is frozen
    /// there stop nobody. They are gone well before the gate's lease has passed and its intents are taken over.
    pub(super) fn idle_ms_max(&self) -> u128 {
        self.lease.as_millis() / 4
    }
}

impl fmt::Display for PostgresPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresPlace({}, schema {})", self.shown, self.schema)
    }
}

/// The parameters that are not passed on.
#[derive(Default)]
struct Own {
    ssl_mode: Option<String>,
    certificates: Option<Certificates>,
    schema: Option<String>,
    lease_ms: Option<u64>,
    renewal_ms: Option<u64>,
    readers: Option<usize>,
}

impl Own {
    /// False if the parameter is none of ours.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, JournalError> {
        match name {
            "sslmode" => self.ssl_mode = Some(value.to_owned()),
            "sslrootcert" if value == "system" => self.certificates = Some(Certificates::System),
            "sslrootcert" => self.certificates = Some(Certificates::File(PathBuf::from(value))),
            "schema" => self.schema = Some(schema(value)?),
            "lease_ms" => self.lease_ms = Some(number(name, value)?),
            "renewal_ms" => self.renewal_ms = Some(number(name, value)?),
            "readers" => {
                let readers = number(name, value)?;
                let range =
                    usize::try_from(readers).ok().filter(|readers| (1..=READERS_MAX).contains(readers));
                self.readers = Some(range.ok_or_else(|| wrong("`readers` from 1 to 64"))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn number(name: &str, value: &str) -> Result<u64, JournalError> {
    value.parse().map_err(|_| wrong(&format!("`{name}` to be a whole number")))
}

/// A name that means the same with quotation marks and without them, and that never needs escaping.
fn schema(name: &str) -> Result<String, JournalError> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if begins && name.len() <= 63 && name.chars().all(good) && !name.starts_with("pg_") {
        return Ok(name.to_owned());
    }
    Err(wrong(
        "`schema` to be a name of at most 63 lower-case letters, digits and `_` that begins with a letter",
    ))
}

fn decoded(text: &str) -> Result<String, JournalError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(match byte {
            b'%' => match (digit(rest.next()), digit(rest.next())) {
                (Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or_default(),
                _ => return Err(wrong("two hexadecimal digits after each `%`")),
            },
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong("values in UTF-8"))
}

#[cold]
fn wrong(expected: &str) -> JournalError {
    let message = format!("the address of the store cannot be read: expected {expected}");
    JournalError::new(Code::StoreUnavailable, message)
}

/// The address for people, without its password and parameters.
fn shown(config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let name = match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        };
        match ports.get(at).or(ports.first()).filter(|port| **port != 5432) {
            Some(port) => format!("{name}:{port}"),
            None => name,
        }
    });
    let hosts = hosts.collect::<Vec<_>>().join(",");
    format!("postgres://{user}{hosts}/{}", config.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_where_the_store_is_and_how_it_is_used() {
        let address = "postgresql://gate@%2Frun%2Fpg:6543/calls?schema=gates_2&lease_ms=3000&sslmode=disable";
        let place = PostgresPlace::parse(address).expect("an address");
        assert_eq!(place.to_string(), "postgres://gate@/run/pg:6543/calls");
        assert_eq!((place.schema(), place.lease().as_millis()), ("gates_2", 3000));
        assert_eq!(place.renewal().as_millis(), 1000);
        assert!(!place.trusts_the_network());
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        for address in ["postgres://gate:s3cret@db/calls", "postgres://gate@db/calls?password=s3cret"] {
            let place = PostgresPlace::parse(address).expect("an address");
            assert!(place.address_has_password() && place.trusts_the_network());
            assert!(!format!("{place} {place:?}").contains("s3cret"));
        }
        let place = PostgresPlace::parse("postgres://gate@db/calls").expect("an address");
        let place = place.or_password(Some("s3cret"));
        assert!(!place.address_has_password() && !format!("{place:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_repeated() {
        for address in [
            "postgres://gate:s3cret@db/calls?sslmode=maybe",
            "postgres://gate:s3cret@db/calls?schema=s3cret\"",
            "postgres://gate:s3cret@db/calls?lease_ms=10",
            "postgres://gate:s3cret@db/calls?lease_ms=9000&renewal_ms=8000",
            "postgres://gate:s3cret@db/calls?readers=0",
            "postgres://gate:s3cret@db/calls?password=%zz&schema=%z",
            "postgres://gate:s3cret@db/calls?unheard_of=s3cret",
            "postgres://gate:s3cret@db:port/calls",
        ] {
            let error = PostgresPlace::parse(address).expect_err(address);
            let mut told = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                told = format!("{told}: {error}");
                cause = error.source();
            }
            assert!(!told.contains("s3cret"), "{told}");
        }
    }
}
