//! Token counts.

use super::faults::{Faults, Place};
use super::take::{self, Object};
use crate::capture::Usage;

/// Takes the counts out of a usage object; what is left in it are details. `None` when there are no counts.
pub(super) fn read(usage: &mut Object, place: Place, faults: &mut Faults) -> Option<Usage> {
    let total = take::count(usage, "total_tokens");
    let prompt = take::count(usage, "prompt_tokens");
    let completion = take::count(usage, "completion_tokens");
    let Some(prompt_tokens) = prompt else {
        faults.add("usage counts", place, "the usage has no `prompt_tokens`");
        return None;
    };
    // Servers that generate nothing leave the count out.
    let completion_tokens = completion.unwrap_or(0);
    let sum = prompt_tokens.saturating_add(completion_tokens);
    match total {
        Some(total) if total != sum => faults.add(
            "total_tokens",
            place,
            format_args!(
                "total_tokens is {total}, but {prompt_tokens} + {completion_tokens} = {sum}"
            ),
        ),
        _ => {}
    }
    Some(Usage { prompt_tokens, completion_tokens })
}

/// The usages of a stream, watched as they come.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The latest that is not all zero, and its event.
    last: Option<(Usage, Place)>,
}

impl Watch {
    /// Takes the usage of an event. Some servers put zeros on every event before they know.
    pub(super) fn take(&mut self, usage: Usage, place: Place, running: bool, faults: &mut Faults) {
        if usage.prompt_tokens == 0 && usage.completion_tokens == 0 {
            return;
        }
        if let Some((last, _)) = self.last {
            if usage.prompt_tokens < last.prompt_tokens
                || usage.completion_tokens < last.completion_tokens
            {
                let message = format!(
                    "the usage fell from {} + {} tokens to {} + {}",
                    last.prompt_tokens,
                    last.completion_tokens,
                    usage.prompt_tokens,
                    usage.completion_tokens
                );
                faults.add("usage falls", place, message);
            } else if !running {
                faults.add("usage twice", place, "usage comes a second time");
            }
        }
        self.last = Some((usage, place));
    }

    /// Where the last one came.
    pub(super) fn place(&self) -> Option<Place> {
        self.last.map(|(_, place)| place)
    }
}
