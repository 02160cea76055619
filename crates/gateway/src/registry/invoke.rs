//! The way of one call: through the stages of the gate, to the handler, and back as a result. It never panics and has
//! no other way to fail than a result.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_schema::Finding;
use callgate_schema::json::{Kind, Tape};
use callgate_wire::{AgentResult, Code, Failure, FailureCode, Json, Object, Principal, Stage, Timestamp};

use super::{Entry, HandlerError, Invocation, Registry};
use crate::Refusal;
use crate::call::{Authorized, Call, Departure, Dispatch, OutputCheck, Terms, repeated, resolve};
use crate::intent::Observation;
use crate::policy::Claims;

/// Findings that a failure's message names; the details have all that the engine reports.
const FINDINGS_NAMED_MAX: usize = 5;
/// Bytes of a key or a finding in a message.
const TEXT_BYTES_MAX: usize = 300;

/// What is done to texts among the arguments before they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CoercionMode {
    /// Nothing.
    #[default]
    Off,
    /// They become what the schema asks for, by the rules of text maps.
    Wire,
    /// They become what the schema asks for, by the grammar of JSON, references and unions included.
    Standard,
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    key: &'a str,
    arguments: &'a [u8],
    correlation_id: Option<&'a str>,
    principal: Option<&'a Principal>,
    claims: Option<&'a Claims>,
    run: Option<&'a str>,
    coercion: CoercionMode,
}

impl<'a> Request<'a> {
    /// A call of the entry under this key with these arguments, the JSON text of an object.
    pub fn new(key: &'a str, arguments: &'a [u8]) -> Request<'a> {
        Request {
            key,
            arguments,
            correlation_id: None,
            principal: None,
            claims: None,
            run: None,
            coercion: CoercionMode::Off,
        }
    }

    /// The same with a name of the caller's for this call, which reaches the handler and the log.
    #[must_use]
    pub fn correlated(mut self, id: &'a str) -> Request<'a> {
        self.correlation_id = Some(id);
        self
    }

    /// The same on behalf of somebody.
    #[must_use]
    pub fn on_behalf_of(mut self, principal: &'a Principal) -> Request<'a> {
        self.principal = Some(principal);
        self
    }

    /// The same with what is known of them, for the rules; where it is absent, what [`Claims::local`] says.
    #[must_use]
    pub fn claiming(mut self, claims: &'a Claims) -> Request<'a> {
        self.claims = Some(claims);
        self
    }

    /// The same within a run.
    #[must_use]
    pub fn in_run(mut self, run: &'a str) -> Request<'a> {
        self.run = Some(run);
        self
    }

    /// The same with the texts among its arguments coerced.
    #[must_use]
    pub fn coerced(mut self, mode: CoercionMode) -> Request<'a> {
        self.coercion = mode;
        self
    }
}

/// What a caller is not told, for the log.
pub struct Fault<'a> {
    /// The key of the entry.
    pub key: &'a str,
    /// The caller's name for the call.
    pub correlation_id: Option<&'a str>,
    /// What happened, with its causes; it may hold what a handler says, values included.
    pub text: &'a dyn fmt::Display,
}

impl fmt::Debug for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({}: {})", self.key, self.text)
    }
}

impl Registry {
    /// Calls an entry. Looks it up; coerces its arguments, if that is asked for; checks them, by its schema or by a
    /// validator of its own; makes the intent durable; runs the handler; records how it ended.
    ///
    /// There is always a result: a failure has the code `intent_not_found` for an unknown key, `validation_error` for
    /// arguments that were refused, `invocation_denied` where a rule says no, and `intent_execution_error` for anything
    /// else, a panic of the handler included. The handler's own result passes as it is.
    pub fn invoke(&self, request: &Request<'_>) -> AgentResult {
        let Some(entry) = self.get(request.key) else {
            let key = cut(request.key);
            return AgentResult::failure(
                FailureCode::INTENT_NOT_FOUND,
                format!("no entry has the key `{key}`"),
            );
        };
        self.call(&entry, request).unwrap_or_else(AgentResult::from)
    }

    /// Calls an entry in hand, the same way; the key of the request is not looked at, and the entry need not be there any
    /// more. A failure that the handler gives is a result; whatever else goes wrong is an error.
    ///
    /// # Errors
    /// What [`Registry::invoke`] gives as a failure with a code of its own: `validation_error`, `invocation_denied`,
    /// `intent_execution_error`.
    ///
    /// ```
    /// use callgate_gateway::registry::{Registry, Request, kit};
    /// let registry = Registry::new(kit::MemoryJournal::ports());
    /// registry.register(kit::fail()?)?;
    /// let entry = registry.get("contract_fail").expect("it was registered");
    /// assert!(registry.call(&entry, &Request::new("", b"{}")).is_ok_and(|result| !result.is_ok()));
    /// assert!(registry.call(&entry, &Request::new("", b"[]")).is_err());
    /// # Ok::<(), callgate_gateway::registry::RegistryError>(())
    /// ```
    pub fn call(&self, entry: &Entry, request: &Request<'_>) -> Result<AgentResult, Failure> {
        let arguments = self.coerce(entry, request)?;
        let settings = &self.inner.settings;
        let call = Call {
            principal: request.principal.unwrap_or(&settings.principal),
            run: request.run,
            tool: entry.key(),
            arguments: &arguments,
        };
        let bound = resolve(entry.catalog(), call).and_then(|resolved| resolved.bind(&settings.limits));
        let claims = request.claims.cloned().unwrap_or_else(|| Claims::local(call.principal));
        let authorized = bound
            .and_then(|bound| bound.authorize(&settings.rules, &claims))
            .map_err(|refusal| failure_of(&refusal))?;
        let invocation = Invocation {
            descriptor: entry.descriptor(),
            arguments: &arguments,
            correlation_id: request.correlation_id,
        };
        if let Some(validator) = &entry.registration().validator {
            let verdict = guarded(|| validator(&invocation));
            verdict.unwrap_or_else(Err).map_err(|error| self.failed(entry, request, error))?;
        }
        let dispatch = self.open(entry, request, authorized)?;
        self.run(entry, request, &dispatch)
    }

    fn coerce<'r>(&self, entry: &Entry, request: &Request<'r>) -> Result<Cow<'r, [u8]>, Failure> {
        let Some(coercion) = entry.coercion(request.coercion) else {
            return Ok(Cow::Borrowed(request.arguments));
        };
        let mut tape = Tape::new();
        let read = tape.read(request.arguments, &self.inner.settings.limits.arguments_text());
        let value = match read {
            Ok(value) if value.kind() == Kind::Object => value,
            // What cannot be read or is no object is for the next stage to say.
            _ => return Ok(Cow::Borrowed(request.arguments)),
        };
        match coercion.coerce(value) {
            Ok(coerced) if coerced.edits.is_empty() => Ok(Cow::Borrowed(request.arguments)),
            Ok(coerced) => Ok(Cow::Owned(coerced.bytes.into_owned())),
            Err(finding) => {
                let message = "the arguments could not be coerced within the limits";
                let refusal = Refusal::new(Code::CallArgumentsUndecided, message);
                Err(failure_of(&refusal.with_findings(vec![*finding], false)))
            }
        }
    }

    fn open(
        &self,
        entry: &Entry,
        request: &Request<'_>,
        authorized: Authorized<'_>,
    ) -> Result<Dispatch, Failure> {
        let ports = &self.inner.ports;
        let fence = ports.journal.incarnation().clone();
        let (at, settings) = ((ports.now)(), &self.inner.settings);
        let expiry = i64::try_from(settings.approval_expiry.as_millis()).unwrap_or(i64::MAX);
        let terms = Terms {
            charges: authorized.charges(&settings.budgets, at).map_err(|refusal| failure_of(&refusal))?,
            approval_expires_at: Timestamp(at.0.saturating_add(expiry)),
            ..Terms::new((ports.fresh_id)(), fence, at)
        };
        match authorized.open(terms).commit(&*ports.journal) {
            Ok(Departure::Go(dispatch)) => Ok(*dispatch),
            // Calls of a registry have no keys yet, so that none is known by one.
            Ok(Departure::Known(intent, _)) => Err(failure_of(&repeated(&intent))),
            Err((refusal, error)) => {
                if let Some(error) = error {
                    self.report(entry, request, &error);
                }
                Err(failure_of(&refusal))
            }
        }
    }

    /// Runs the handler with the bytes that were checked, and records how that ended.
    fn run(&self, entry: &Entry, request: &Request<'_>, dispatch: &Dispatch) -> Result<AgentResult, Failure> {
        let invocation = Invocation {
            descriptor: entry.descriptor(),
            arguments: dispatch.arguments(),
            correlation_id: request.correlation_id,
        };
        let outcome = guarded(|| (entry.registration().handler)(&invocation));
        let (result, observation) = match outcome {
            Ok(Ok(result)) => {
                let (result, observation) = self.observe(dispatch, result);
                (Ok(result), observation)
            }
            Ok(Err(error)) => (Err(self.failed(entry, request, error)), Observation::RpcError),
            // It got somewhere, and nobody knows how far.
            Err(panic) => (Err(self.failed(entry, request, panic)), Observation::AnswerUnreadable),
        };
        let ports = &self.inner.ports;
        let settlement = dispatch.observe(observation, (ports.now)());
        if let Err(error) = ports.journal.settle(&dispatch.intent().id, &settlement, None) {
            self.report(entry, request, &error);
        }
        result
    }

    fn observe(&self, dispatch: &Dispatch, result: AgentResult) -> (AgentResult, Observation) {
        let bytes = result.to_json().as_str().len();
        let maximum = self.inner.settings.result_bytes_max;
        if bytes > maximum {
            let message =
                format!("the handler has run; its result of {bytes} bytes is over {maximum} and dropped");
            let failure = AgentResult::failure(FailureCode::INVALID_RESULT, message);
            return (failure, Observation::ResultTooLarge { bytes: bytes as u64 });
        }
        let breaks_output = result.data().is_some_and(|data| {
            let check = dispatch.check_output(Some(data.as_str().as_bytes()), &self.inner.settings.limits);
            matches!(check, OutputCheck::Broken(_))
        });
        let observation =
            Observation::Result { is_error: !result.is_ok(), bytes: bytes as u64, breaks_output };
        (result, observation)
    }

    /// What the caller is told of an error, after the log was told all.
    fn failed(&self, entry: &Entry, request: &Request<'_>, error: HandlerError) -> Failure {
        self.report(entry, request, &error);
        Failure { code: error.code, message: error.message, details: Object::new() }
    }

    fn report(&self, entry: &Entry, request: &Request<'_>, text: &dyn fmt::Display) {
        let fault = Fault { key: entry.key(), correlation_id: request.correlation_id, text };
        // A log that fails does not fail the call.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.inner.ports.on_fault)(&fault)));
    }
}

/// Runs what an app wrote; a panic is an error like others, and its text is for the log.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, HandlerError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "a panic without a text".to_owned());
        HandlerError::new("the handler panicked").caused_by(text)
    })
}

/// A refusal in the words of the wire.
fn failure_of(refusal: &Refusal) -> Failure {
    let code = match (refusal.code, refusal.stage) {
        (Code::CallUnknownTool, _) => FailureCode::INTENT_NOT_FOUND,
        (Code::CallArgumentsInvalid | Code::CallMalformed | Code::CallArgumentsUndecided, _) => {
            FailureCode::VALIDATION_ERROR
        }
        (_, Stage::Authorize | Stage::Approve | Stage::Reserve) => FailureCode::INVOCATION_DENIED,
        _ => FailureCode::INTENT_EXECUTION_ERROR,
    };
    let mut message = refusal.message.clone();
    for finding in refusal.findings.iter().take(FINDINGS_NAMED_MAX) {
        let place = finding.instance_location.as_ref().map(|place| format!("{}: ", place.arguments_path()));
        message.push_str("; ");
        message.push_str(cut(&format!("{}{}", place.unwrap_or_default(), finding.message)));
    }
    let mut details = Object::new().with("code", refusal.code.as_str());
    let errors: Vec<Json> = refusal.findings.iter().filter_map(json_of).collect();
    if !errors.is_empty() {
        details.set("errors", errors);
    }
    if !refusal.determining.is_empty() {
        let rules: Vec<Json> = refusal.determining.iter().map(|rule| Json::from(rule.as_str())).collect();
        details.set("determining", rules);
    }
    Failure { code, message, details }
}

fn json_of(finding: &Finding) -> Option<Json> {
    let mut out = Vec::new();
    finding.write_json(&mut out);
    Json::parse(out).ok()
}

/// The beginning of a text that may be long.
fn cut(text: &str) -> &str {
    let end = (0..=TEXT_BYTES_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
