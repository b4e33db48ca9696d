//! A case for tests that do not read a spec.

use super::{Case, Say, Turn};
use crate::branch::Branch;

/// A case of these turns, each with whether a reply is asked for, that expects nothing yet.
pub(crate) fn case(branch: Branch, turns: Vec<(Say, bool)>) -> Case {
    let turn = |(say, asks)| Turn { say, asks, expect: Vec::new(), location: Default::default() };
    Case {
        id: format!("{}/x.y", branch.name()),
        branch,
        target: "scripted".to_owned(),
        location: Default::default(),
        system: None,
        turns: turns.into_iter().map(turn).collect(),
        tools: Vec::new(),
        tool_choice: None,
        settings: Default::default(),
        template: Default::default(),
        stream: false,
        repeat: 1,
        load: 0,
        twin: false,
        tags: Vec::new(),
        known_failure: None,
        allow: Default::default(),
        expect: Vec::new(),
        snapshot: Vec::new(),
        snapshot_stem: Default::default(),
        timeout: None,
    }
}
