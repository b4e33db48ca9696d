use super::*;

const FREE: fn() -> Redactor = Redactor::default;

fn decode<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Decoded {
    let redactor = FREE();
    let mut decoder = Decoder::new(&redactor);
    for piece in pieces {
        decoder.push(piece, 1.0).unwrap();
    }
    decoder.finish(1.0)
}

/// Input, events as (name, data), faults.
type Row = (&'static [u8], &'static [(&'static str, &'static str)], &'static [&'static str]);

const TABLE: &[Row] = &[
    (b"", &[], &[]),
    (b"data: a\n\n", &[("", "a")], &[]),
    (b"data:a\n\n", &[("", "a")], &[]),
    (b"data:  a \n\n", &[("", " a ")], &[]),
    (b"data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")], &[]),
    (b"data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")], &[]),
    (b"data: a\r\n\ndata: b\n\r\n\r", &[("", "a"), ("", "b")], &[]),
    (b"\xef\xbb\xbfdata: a\n\n", &[("", "a")], &["the stream begins with a byte order mark"]),
    (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", &[("", "a")], &[]),
    (b": ping\n\n:\n\ndata: a\n: inside\n\n", &[("", "a")], &[]),
    (b"data: a\ndata: b\ndata\ndata:c\n\n", &[("", "a\nb\n\nc")], &[]),
    (b"data:\n\n", &[("", "")], &[]),
    (b"event: error\ndata: {}\nid: 7\nretry: 3\n\n", &[("error", "{}")], &[]),
    (b"event: lost\n\ndata: a\n\n", &[("", "a")], &[]),
    (
        b"event: sglext_ids\ndata: [1]\n\ndata: [DONE]\n\n",
        &[("sglext_ids", "[1]"), ("", "[DONE]")],
        &[],
    ),
    (b"what: ever\ndatax: a\nDATA: a\n\ndata: b\n\n", &[("", "b")], &[]),
    ("data: gr\u{fc}n \u{1f600}\n\n".as_bytes(), &[("", "gr\u{fc}n \u{1f600}")], &[]),
    (
        b"data: a\n\ndata: \xff\xf0\x9f\n\n",
        &[("", "a"), ("", "\u{fffd}\u{fffd}")],
        &["invalid UTF-8 in line 3"],
    ),
    (b"data: a\n\ndata: b", &[("", "a"), ("", "b")], &["the stream ends inside an event"]),
    (b"data: a\n\ndata: b\n", &[("", "a"), ("", "b")], &["the stream ends inside an event"]),
    (b"data: a\n\ndata: b\r", &[("", "a"), ("", "b")], &["the stream ends inside an event"]),
    (b"data: a\n\n: bye", &[("", "a")], &[]),
    (
        b"data: \xe2\x82",
        &[("", "\u{fffd}")],
        &["invalid UTF-8 in line 1", "the stream ends inside an event"],
    ),
    (b"{\"error\":\"x\"}\n\n", &[], &["line 1 is no field of an event: {\"error\":\"x\"}"]),
    // A trailing space before the blank line belongs to the data: JSON may be trimmed, the framing not.
    (b"data: {} \n\n", &[("", "{} ")], &[]),
];

#[test]
fn every_input_gives_the_same_however_it_is_split() {
    for (input, events, faults) in TABLE {
        let shown = String::from_utf8_lossy(input);
        let whole = decode([*input]);
        let got: Vec<_> = whole.events.iter().map(|e| (e.name.as_str(), e.data.as_str())).collect();
        assert_eq!(&got, events, "{shown:?}");
        assert_eq!(&whole.faults, faults, "{shown:?}");
        assert_eq!(decode(input.chunks(1)), whole, "{shown:?} byte by byte");
        for at in 0..=input.len() {
            let (a, b) = input.split_at(at);
            assert_eq!(decode([a, b]), whole, "{shown:?} split at {at}");
            assert_eq!(
                decode([a, b"".as_slice(), b]),
                whole,
                "{shown:?} split at {at}, with an empty piece"
            );
        }
    }
}

/// The record alone gives the same events and faults again.
#[test]
fn lines_can_be_decoded_again() {
    for (input, ..) in TABLE {
        let first = decode([*input]);
        let redactor = FREE();
        let mut decoder = Decoder::new(&redactor);
        for (index, line) in first.lines.iter().enumerate() {
            let raw = first.raw.iter().find(|(at, _)| *at == index);
            let bytes = raw.map_or(line.text().as_bytes(), |(_, bytes)| bytes);
            decoder.push(bytes, line.at_ms()).unwrap();
            decoder.push(b"\n", line.at_ms()).unwrap();
        }
        assert_eq!(decoder.finish(1.0), first, "{:?}", String::from_utf8_lossy(input));
    }
}

#[test]
fn times_are_those_of_the_last_line() {
    let redactor = FREE();
    let mut decoder = Decoder::new(&redactor);
    for (piece, at) in [("data: a\n", 1.0), ("\ndata: b\n\nda", 2.5), ("ta: c\n\n", 4.0)] {
        decoder.push(piece.as_bytes(), at).unwrap();
    }
    let decoded = decoder.finish(9.0);
    let times: Vec<_> = decoded.events.iter().map(|e| (e.data.as_str(), e.at_ms)).collect();
    assert_eq!(times, [("a", 2.5), ("b", 2.5), ("c", 4.0)]);
    assert_eq!(decoded.lines.first(), Some(&Line::Timed(1.0, "data: a".to_owned())));
    assert_eq!(decoded.lines.last(), Some(&Line::Timed(4.0, String::new())));
}

#[test]
fn what_broke_off_makes_no_event() {
    let redactor = FREE();
    let whole = b"data: a\n\ndata: {\"b\":\xc3\xbc}\n\n";
    for cut in 0..whole.len() {
        let mut decoder = Decoder::new(&redactor);
        decoder.push(&whole[..cut], 0.0).unwrap();
        let decoded = decoder.abandon(0.0);
        assert_eq!(decoded.events.len(), usize::from(cut >= 9), "cut at {cut}");
        assert!(decoded.faults.is_empty(), "cut at {cut}: {:?}", decoded.faults);
    }
}

#[test]
fn a_line_has_a_limit() {
    let redactor = FREE();
    let piece = vec![b'x'; 1 << 16];
    let mut decoder = Decoder::new(&redactor);
    decoder.push(b"data: a\n\n", 0.0).unwrap();
    let error = (0..1000).find_map(|_| decoder.push(&piece, 0.0).err()).unwrap();
    assert_eq!(error.to_string(), "line 3 of the event stream is over 4 MiB");
    assert_eq!(decoder.abandon(0.0).events.len(), 1);

    let mut decoder = Decoder::new(&redactor);
    decoder.push(&vec![b'x'; LONGEST_LINE], 0.0).unwrap();
    decoder.push(b"\n", 0.0).unwrap();
    assert!(Decoder::new(&redactor).push(&vec![b'x'; LONGEST_LINE + 1], 0.0).is_err());
}

#[test]
fn the_record_has_a_limit_and_the_events_are_whole() {
    let line = format!("data: {}\n\n", "x".repeat(1000));
    let input = line.repeat(3000);
    let decoded = decode([input.as_bytes()]);
    assert_eq!(decoded.events.len(), 3000);
    let kept: usize = decoded.lines.iter().map(|line| line.text().len() + 1).sum();
    assert!(kept <= KEPT && kept > KEPT - 2 * line.len() - 32 * decoded.lines.len(), "{kept}");
    assert_eq!(kept + decoded.cut_bytes, input.len());
}

#[test]
fn garbage_has_a_bounded_number_of_faults() {
    let decoded = decode([b"\xff\n".repeat(10_000).as_slice()]);
    assert_eq!(decoded.faults.len(), MOST_FAULTS);
}

#[test]
fn secrets_are_gone_from_events_lines_and_bytes() {
    let redactor = Redactor::new(["sk-topsecret"]);
    let input = b"data: sk-topsecret\n\ndata: \xff sk-topsecret\n\n{ sk-topsecret\n: sk-topsecret";
    for size in [1, 7, input.len()] {
        let mut decoder = Decoder::new(&redactor);
        for piece in input.chunks(size) {
            decoder.push(piece, 0.0).unwrap();
        }
        let decoded = decoder.finish(0.0);
        assert_eq!(decoded.events.first().map(|e| e.data.as_str()), Some("[redacted]"));
        assert_eq!(decoded.raw, [(2, b"data: \xff [redacted]".to_vec())]);
        let shown = format!("{decoded:?}");
        assert!(!shown.contains("topsecret"), "{shown}");
    }
}
