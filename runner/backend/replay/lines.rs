//! The events of a recorded stream, decoded as those of a server are.

use crate::backend::Redactor;
use crate::backend::remote::sse::{Decoded, Decoder};

/// Decodes a stream that arrived in these pieces, each at its milliseconds; `whole` when it ended as it should.
pub(super) fn decode(pieces: &[(f64, Vec<u8>)], whole: bool) -> Decoded {
    // Secrets were removed before the recording was written.
    let nothing: [&str; 0] = [];
    let redactor = Redactor::new(nothing);
    let mut decoder = Decoder::new(&redactor);
    let mut last = 0.0;
    for (at_ms, bytes) in pieces {
        last = *at_ms;
        if let Err(error) = decoder.push(bytes, last) {
            let mut decoded = decoder.abandon(last);
            decoded.faults.push(error.to_string());
            return decoded;
        }
    }
    if whole { decoder.finish(last) } else { decoder.abandon(last) }
}
