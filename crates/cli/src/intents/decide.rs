//! What an operator makes of an intent in doubt.

use callgate_gateway::journal::{ReconcileRequest, Verdict};
use callgate_wire::{Intent, SideEffect};
use clap::ValueEnum;

use super::find;
use crate::ExitCode;
use crate::operator::{OperatorArgs, refusal};
use crate::render::escape::one_line;
use crate::render::output::{print, remark};

#[derive(Debug, clap::Args)]
pub(super) struct Adopt {
    /// The intent's id, or the beginning or the end of it
    id: String,
    /// Whether the tool ran, as you have found out
    #[arg(long, value_enum)]
    effect: Effect,
    /// How you know, for the record
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    operator: OperatorArgs,
}

/// What an operator has found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Effect {
    /// It took effect
    Done,
    /// It did not, and will not any more
    None,
}

#[derive(Debug, clap::Args)]
pub(super) struct Decide {
    /// The intent's id, or the beginning or the end of it
    id: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(super) fn adopt(args: &Adopt) -> anyhow::Result<ExitCode> {
    let effect = match args.effect {
        Effect::Done => SideEffect::Done,
        Effect::None => SideEffect::None,
    };
    let intent = reconcile(&args.id, &args.reason, &args.operator, Verdict::Adopt(effect))?;
    let says = match args.effect {
        Effect::Done => "took effect",
        Effect::None => "had no effect",
    };
    print(&format!("{}: it {says}. The same call may be made again.\n", named(&intent)))?;
    Ok(ExitCode::Success)
}

pub(super) fn retry(args: &Decide) -> anyhow::Result<ExitCode> {
    let intent = reconcile(&args.id, &args.reason, &args.operator, Verdict::Retry)?;
    remark(
        "callgate: warning: nobody knows whether the first try took effect, and its sender may be frozen rather than \
         dead: if it goes on, the tool can still run for it\n",
    );
    let next = intent.attempt.0.saturating_add(1);
    let principal = one_line(intent.principal.as_str());
    print(&format!("{}: the next identical call of {principal} leaves as try {next}.\n", named(&intent)))?;
    Ok(ExitCode::Success)
}

pub(super) fn abandon(args: &Decide) -> anyhow::Result<ExitCode> {
    let intent = reconcile(&args.id, &args.reason, &args.operator, Verdict::Abandon)?;
    print(&format!(
        "{}: given up; its effect stays unknown. The same call may be made again.\n",
        named(&intent)
    ))?;
    Ok(ExitCode::Success)
}

fn named(intent: &Intent) -> String {
    format!("{} ({}/{})", intent.id, one_line(&intent.upstream), one_line(&intent.tool))
}

fn reconcile(id: &str, reason: &str, operator: &OperatorArgs, verdict: Verdict) -> anyhow::Result<Intent> {
    let operator = operator.open()?;
    let id = find(operator.ledger(), id)?.intent.id;
    let (by, reason) = (operator.by.clone(), reason.to_owned());
    let request = ReconcileRequest { id, verdict, by, reason, at: operator.now };
    operator.ledger().reconcile(request).map_err(refusal)
}
