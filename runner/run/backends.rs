//! The targets of a plan, opened, and the manifest of what they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::backend::{self, Backend, Opening};
use crate::error::Error;
use crate::event::TargetIdentity;
use crate::manifest::Manifest;
use crate::plan::Outline;

/// Backends by the name of their target.
pub(super) type Backends = BTreeMap<String, Arc<dyn Backend>>;

/// Opens every target of a plan.
pub(super) async fn open(plan: &Outline, opening: &Opening) -> Result<Backends, Error> {
    let mut backends = Backends::new();
    for (name, target) in &plan.targets {
        let backend = backend::open(target, opening).await.map_err(|failed| {
            let message = format!("{}\n --> {}", failed.error, target.kind.location());
            Error::Backend { target: name.clone(), message }
        })?;
        backends.insert(name.clone(), backend);
    }
    Ok(backends)
}

/// What identifies each.
pub(super) fn identities(backends: &Backends) -> Vec<TargetIdentity> {
    let identity = |(name, backend): (&String, &Arc<dyn Backend>)| TargetIdentity {
        name: name.clone(),
        facts: backend.identity(),
    };
    backends.iter().map(identity).collect()
}

/// The manifest of a run of `plan` on these targets. It takes the list of files from the plan, which may be long.
pub(super) fn manifest(
    plan: &mut Outline,
    targets: Vec<TargetIdentity>,
    now: DateTime<Utc>,
) -> Manifest {
    let time = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut manifest = Manifest::new(env!("CARGO_PKG_VERSION"), time);
    manifest.targets = targets;
    manifest.selection = plan.selection.clone();
    manifest.files = std::mem::take(&mut plan.files);
    manifest.chosen = plan.chosen.clone();
    manifest
}
