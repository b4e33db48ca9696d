//! A call without its bodies.

use serde_json::value::RawValue;

use super::Privacy;
use crate::capture::{WireCall, WireRequest, WireResponse};

/// The path, the status, the headers that are kept and the attempts stay. With hashes, a text stands for each body.
pub(super) fn mask(privacy: Privacy, call: &WireCall) -> WireCall {
    WireCall {
        purpose: call.purpose.clone(),
        request: WireRequest {
            method: call.request.method.clone(),
            path: call.request.path.clone(),
            body: match privacy {
                Privacy::Hashed => call.request.body.as_ref().and_then(|it| hashed(privacy, it)),
                _ => None,
            },
        },
        response: call.response.as_ref().map(|it| response(privacy, it)),
        attempts: call.attempts.clone(),
        broke: call.broke.as_ref().map(|why| privacy.mask(why)),
    }
}

/// A body as a JSON string that holds its hash.
fn hashed(privacy: Privacy, body: &RawValue) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(&privacy.mask(body.get())).ok()
}

fn response(privacy: Privacy, response: &WireResponse) -> WireResponse {
    let text = match privacy {
        Privacy::Hashed => body(response).map(|body| privacy.mask(&body)),
        _ => None,
    };
    WireResponse {
        status: response.status,
        headers: response.headers.clone(),
        body: None,
        text,
        sse: None,
        chunks_base64: None,
        cut_bytes: response.cut_bytes,
    }
}

/// The body of any form as one text, for its hash.
fn body(response: &WireResponse) -> Option<String> {
    let lines = || {
        let lines = response.sse.as_ref()?.iter().map(|line| line.text());
        Some(lines.collect::<Vec<_>>().join("\n"))
    };
    let json = response.body.as_ref().map(|body| body.get().to_owned());
    json.or_else(|| response.text.clone())
        .or_else(lines)
        .or_else(|| Some(response.chunks_base64.as_ref()?.join("\n")))
}
