//! The events of a recorded stream.

use crate::backend::remote::sse::Event;

/// Events, and what is wrong with their framing.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) events: Vec<Event>,
    pub(super) faults: Vec<String>,
}

/// Decodes a stream that arrived in these pieces, each at its milliseconds; `whole` when it ended as it should.
pub(super) fn decode(pieces: &[(f64, Vec<u8>)], whole: bool) -> Decoded {
    let bytes: Vec<u8> = pieces.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
    let mut done = Decoded::default();
    let (mut event, mut begun, mut from) = (Event::default(), false, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        from += line.len();
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() && begun {
            event.at_ms = arrived(pieces, from);
            done.events.push(std::mem::take(&mut event));
            begun = false;
        } else if let Some(data) = text.strip_prefix("data:") {
            let gap = if begun { "\n" } else { "" };
            event.data += &format!("{gap}{}", data.strip_prefix(' ').unwrap_or(data));
            begun = true;
        } else if let Some(name) = text.strip_prefix("event:") {
            name.trim().clone_into(&mut event.name);
        }
    }
    if begun && whole {
        event.at_ms = arrived(pieces, from);
        done.events.push(event);
        done.faults.push("the stream ends inside an event".to_owned());
    }
    done
}

/// When the byte before `end` arrived.
fn arrived(pieces: &[(f64, Vec<u8>)], end: usize) -> f64 {
    let mut size = 0;
    let piece = pieces.iter().find(|(_, bytes)| {
        size += bytes.len();
        size >= end
    });
    piece.map_or(0.0, |(at_ms, _)| *at_ms)
}
