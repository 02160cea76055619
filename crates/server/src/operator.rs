//! The operator's token: what makes whoever gives it an operator of one store, and never a caller.
//!
//! It lies beside the store, in a file that its owner alone can read. Whoever can read it could write the store as well,
//! so that it protects nothing from the account that runs the gate; it keeps callers out, who have only the protocol.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use callgate_wire::Code;
use subtle::ConstantTimeEq as _;

/// The name of the token's file in the store's folder. Stores in one folder have one operator.
pub const TOKEN_FILE: &str = "operator-token";

/// Bytes of randomness in a token.
const RANDOM_BYTES: usize = 32;
/// Bytes that are read of a token's file: a token and what an editor may have put behind it.
const FILE_BYTES_MAX: u64 = 256;

/// A token. It is never printed: its `Debug` form has nothing of it.
///
/// ```
/// use callgate_server::OperatorToken;
///
/// let folder = tempfile::tempdir()?;
/// let store = folder.path().join("store.sqlite");
/// let token = OperatorToken::of_store(&store)?;
/// let given = OperatorToken::load(&OperatorToken::file(&store))?;
/// assert!(token.verify(&given).is_ok());
/// assert!(token.verify(&OperatorToken::parse(&"0".repeat(64))?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OperatorToken([u8; RANDOM_BYTES]);

/// Why somebody is no operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorError {
    code: Code,
    message: String,
}

impl OperatorError {
    /// `operator-token-wrong`, or `operator-token-unsafe` where the token cannot be trusted or read.
    pub fn code(&self) -> Code {
        self.code
    }

    fn unsafe_(file: &Path, found: impl fmt::Display) -> OperatorError {
        let message = format!("expected the operator's token in `{}`, found {found}", file.display());
        OperatorError { code: Code::OperatorTokenUnsafe, message }
    }
}

impl fmt::Display for OperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OperatorError {}

impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorToken(…)")
    }
}

impl OperatorToken {
    /// Where the token of this store is.
    pub fn file(store: &Path) -> PathBuf {
        let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new(".")).join(TOKEN_FILE)
    }

    /// The token of this store, which is made if there is none. Two processes that make one at the same time get the same.
    ///
    /// # Errors
    ///
    /// As [`OperatorToken::load`]; a folder that cannot be written.
    pub fn of_store(store: &Path) -> Result<OperatorToken, OperatorError> {
        let file = OperatorToken::file(store);
        let there = file.try_exists().map_err(|error| OperatorError::unsafe_(&file, error))?;
        if !there {
            make(&file).map_err(|error| OperatorError::unsafe_(&file, format!("none: {error}")))?;
        }
        OperatorToken::load(&file)
    }

    /// Reads a token from a file.
    ///
    /// # Errors
    ///
    /// `operator-token-unsafe`: no regular file, one of another account, one that others can read or write, one without a
    /// token in it.
    pub fn load(file: &Path) -> Result<OperatorToken, OperatorError> {
        let read = || -> io::Result<Result<String, &'static str>> {
            let opened = std::fs::File::open(file)?;
            // Asked of the open file: the name can stand for another one a moment later.
            if let Some(fault) = fault(&opened.metadata()?) {
                return Ok(Err(fault));
            }
            let mut text = String::new();
            opened.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
            Ok(Ok(text))
        };
        let text = read()
            .map_err(|error| OperatorError::unsafe_(file, error))?
            .map_err(|fault| OperatorError::unsafe_(file, fault))?;
        OperatorToken::parse(&text).map_err(|_| OperatorError::unsafe_(file, "another text"))
    }

    /// Reads a token as somebody gives it: 64 hexadecimal digits, blanks around them.
    ///
    /// # Errors
    ///
    /// `operator-token-wrong`, for any other text.
    pub fn parse(text: &str) -> Result<OperatorToken, OperatorError> {
        let digits = text.trim().as_bytes();
        let mut bytes = [0; RANDOM_BYTES];
        let pairs = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        });
        let good = digits.len() == 2 * RANDOM_BYTES
            && bytes.iter_mut().zip(pairs).all(|(byte, pair)| pair.map(|pair| *byte = pair).is_some());
        if good { Ok(OperatorToken(bytes)) } else { Err(wrong()) }
    }

    /// Whether `given` is this token, in a time that says nothing of how much of it is right.
    ///
    /// # Errors
    ///
    /// `operator-token-wrong`.
    pub fn verify(&self, given: &OperatorToken) -> Result<(), OperatorError> {
        if bool::from(self.0.ct_eq(&given.0)) { Ok(()) } else { Err(wrong()) }
    }
}

fn wrong() -> OperatorError {
    let message = "the token is not that of this store's operator".to_owned();
    OperatorError { code: Code::OperatorTokenWrong, message }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// Makes a token and puts it there, unless another process was faster. A store on a server has no folder here, so the
/// folder is made, too.
fn make(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut text = String::with_capacity(2 * RANDOM_BYTES + 1);
    for byte in random {
        use fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\n');
    // Made for its owner alone, and given its name when it is whole.
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    match beside.persist_noclobber(file) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

/// Makes a folder for its owner alone, and those above it, where there are none.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// What speaks against a file of secrets.
#[cfg(unix)]
pub(crate) fn fault(found: &std::fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    if !found.is_file() {
        Some("something else than a file")
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        Some("a file of another account")
    } else if found.mode() & 0o077 != 0 {
        Some(
            "a file that others can read or write; take that away with `chmod 600`, or remove it for a new one",
        )
    } else {
        None
    }
}

#[cfg(not(unix))]
pub(crate) fn fault(found: &std::fs::Metadata) -> Option<&'static str> {
    (!found.is_file()).then_some("something else than a file")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests look at the files")]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.sqlite");
        (folder, store)
    }

    #[test]
    fn the_first_one_to_ask_makes_it_and_the_others_find_it() {
        let (_folder, store) = store();
        let tokens: Vec<OperatorToken> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| OperatorToken::of_store(&store).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(tokens.iter().all(|token| token.verify(&tokens[0]).is_ok()));
        let (_elsewhere, other) = self::store();
        let other = OperatorToken::of_store(&other).unwrap();
        assert_eq!(other.verify(&tokens[0]).unwrap_err().code(), Code::OperatorTokenWrong);
        assert_eq!(
            std::fs::read_dir(store.parent().unwrap()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_folder_that_is_missing_is_made() {
        let (folder, _) = store();
        let token = OperatorToken::of_store(&folder.path().join("a/b/store.sqlite")).unwrap();
        assert_eq!(format!("{token:?}"), "OperatorToken(…)");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(folder.path().join("a")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn nothing_of_a_token_is_ever_printed() {
        let (_folder, store) = store();
        let token = OperatorToken::of_store(&store).unwrap();
        let text = std::fs::read_to_string(OperatorToken::file(&store)).unwrap();
        assert_eq!(text.len(), 65);
        assert!(!text.contains(&format!("{token:?}")) && format!("{token:?}") == "OperatorToken(…)");
        let error = OperatorToken::parse(&text[1..]).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&text[10..20]));
    }

    #[test]
    fn only_its_own_form_is_a_token() {
        let good = "0123456789abcdef".repeat(4);
        assert!(OperatorToken::parse(&format!(" {good}\n")).is_ok());
        for text in ["", &good[1..], &good.to_uppercase(), &format!("{good}00"), &good.replace('a', "é")] {
            assert_eq!(OperatorToken::parse(text).unwrap_err().code(), Code::OperatorTokenWrong, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_folder, store) = store();
        OperatorToken::of_store(&store).unwrap();
        let file = OperatorToken::file(&store);
        let mode = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            OperatorToken::of_store(&store).map_err(|error| error.code())
        };
        assert!(mode(0o600).is_ok() && mode(0o400).is_ok());
        for wide in [0o640, 0o604, 0o620, 0o666] {
            assert_eq!(mode(wide).unwrap_err(), Code::OperatorTokenUnsafe, "{wide:o}");
        }
        mode(0o600).unwrap();
        std::fs::write(&file, "not a token\n").unwrap();
        assert_eq!(OperatorToken::of_store(&store).unwrap_err().code(), Code::OperatorTokenUnsafe);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert_eq!(OperatorToken::of_store(&store).unwrap_err().code(), Code::OperatorTokenUnsafe);
    }
}
