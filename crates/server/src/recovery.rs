//! A gate that runs looks now and then for gates that have gone meanwhile: what they left is in doubt, and is recorded so
//! before anybody asks.

use std::sync::Weak;
use std::time::Duration;

use callgate_gateway::{Journal, JournalError};
use callgate_wire::Intent;

use crate::clock::now;

/// How often a gate looks.
pub const RECOVERY_EVERY: Duration = Duration::from_secs(30);

/// Takes over the intents of gates that are gone and says so; blocks on the journal.
///
/// # Errors
///
/// Those of the journal.
pub fn recover(journal: &dyn Journal) -> Result<Vec<Intent>, JournalError> {
    let taken = journal.recover(now())?;
    for intent in &taken {
        tracing::warn!(
            intent = %intent.id,
            tool = intent.tool,
            upstream = intent.upstream,
            "in doubt: the gate that made this call ended before it knew the outcome"
        );
    }
    Ok(taken)
}

/// Does so every `every`, as long as somebody else holds the journal, which ends when they let go of it. A store that cannot
/// be asked is asked again the next time.
pub async fn keep_recovering(journal: Weak<dyn Journal>, every: Duration) {
    let mut failed = false;
    loop {
        tokio::time::sleep(every).await;
        let Some(journal) = journal.upgrade() else { return };
        let outcome = tokio::task::spawn_blocking(move || recover(&*journal)).await;
        match outcome {
            Ok(Ok(_)) => failed = false,
            // Said once, and not again while it lasts.
            Ok(Err(error)) if !failed => {
                tracing::error!(%error, "calls of gates that are gone cannot be looked for");
                failed = true;
            }
            Ok(Err(_)) => {}
            Err(_) => tracing::error!("a defect of the gate ended a look for gates that are gone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use callgate_gateway::call::{Call, Departure, Terms, resolve};
    use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tool};
    use callgate_gateway::journal::{IntentFilter, MemoryStore};
    use callgate_gateway::policy::{Claims, RuleSet};
    use callgate_schema::Profile;
    use callgate_wire::Principal;
    use std::sync::Arc;

    use super::*;
    use crate::clock::{fresh_incarnation, fresh_intent_id};

    fn open_one(journal: &dyn Journal) {
        let settings = AdmissionSettings::new(Profile::Standard);
        let tool = admit_tool(br#"{"name":"t","inputSchema":{"type":"object"}}"#, 0, &settings);
        let catalog = Catalog::publish(1, "u", vec![tool]);
        let ada = Principal::local("ada");
        let call = Call { principal: &ada, run: None, tool: "t", arguments: b"{}" };
        let bound = resolve(&catalog, call).unwrap().bind(&settings.limits).unwrap();
        let authorized = bound.authorize(&RuleSet::none(), &Claims::none()).unwrap();
        let terms = Terms::new(fresh_intent_id(), journal.incarnation().clone(), now());
        assert!(matches!(authorized.open(terms).commit(journal), Ok(Departure::Go(_))));
    }

    #[tokio::test]
    async fn a_gate_that_runs_finds_what_another_left() {
        let store = MemoryStore::default();
        let (gone, runs) = (store.enter(fresh_incarnation()), store.enter(fresh_incarnation()));
        open_one(&gone);
        let runs: Arc<dyn Journal> = Arc::new(runs);
        let looks = tokio::spawn(keep_recovering(Arc::downgrade(&runs), Duration::from_millis(5)));
        let doubts = |runs: &Arc<dyn Journal>| {
            runs.list(&IntentFilter { in_doubt: true, ..IntentFilter::last(9) }).unwrap().len()
        };
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(doubts(&runs), 0, "the other gate lives");
        store.lose(gone.incarnation());
        let found = async {
            while doubts(&runs) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), found).await.expect("it is found");
        drop(runs);
        tokio::time::timeout(Duration::from_secs(10), looks)
            .await
            .expect("it ends with the journal")
            .unwrap();
    }
}
