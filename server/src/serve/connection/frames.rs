//! Cuts floods of HTTP/2 control frames, which cost work and carry nothing.
//!
//! The HTTP library answers PING and SETTINGS and reads PRIORITY and WINDOW_UPDATE without end.
//! So they are counted: a client may send some after each request, a few more for the bytes that it
//! reads, and some in each period.

use tokio::time::Instant;

use crate::limits::{CONTROL_FRAME_BYTES, CONTROL_FRAMES_MAX, CONTROL_FRAMES_PERIOD};

/// How every HTTP/2 connection begins.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length (three bytes) and type. The rest of a frame's header is skipped with its payload.
const HEADER_BYTES: usize = 4;
const HEADER_REST_BYTES: usize = 5;
const DATA: u8 = 0;
const HEADERS: u8 = 1;

pub(super) struct Frames {
    /// Bytes of the preface that have come.
    preface: usize,
    is_http1: bool,
    /// The beginning of a frame's header.
    header: Vec<u8>,
    /// Bytes of a frame that are still to come.
    rest: usize,
    /// Control frames that may still come in this period.
    left: usize,
    period: Instant,
}

impl Frames {
    pub(super) fn new() -> Self {
        let (header, left, period) = (Vec::new(), CONTROL_FRAMES_MAX, Instant::now());
        Self { preface: 0, is_http1: false, header, rest: 0, left, period }
    }

    /// Takes what the peer has sent; `false` if it sends too many control frames.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> bool {
        let mut may_come = true;
        let missing = &PREFACE[self.preface..];
        let preface = take(&mut bytes, missing.len());
        self.preface += preface.len();
        self.is_http1 |= !missing.starts_with(preface);
        while !bytes.is_empty() && !self.is_http1 {
            self.rest -= take(&mut bytes, self.rest).len();
            self.header.extend(take(&mut bytes, HEADER_BYTES - self.header.len()));
            if let [a, b, c, kind] = self.header[..] {
                self.header.clear();
                self.rest = u32::from_be_bytes([0, a, b, c]) as usize + HEADER_REST_BYTES;
                may_come &= self.count(kind);
            }
        }
        may_come
    }

    /// Whether a frame of this type may come.
    fn count(&mut self, kind: u8) -> bool {
        if kind == HEADERS || self.left == 0 && self.period.elapsed() > CONTROL_FRAMES_PERIOD {
            (self.left, self.period) = (CONTROL_FRAMES_MAX, Instant::now());
        }
        let left = self.left.checked_sub(1);
        matches!(kind, DATA | HEADERS)
            || left.is_some_and(|left| {
                self.left = left;
                true
            })
    }

    /// Takes the number of bytes that the peer is sent.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.left = CONTROL_FRAMES_MAX.min(self.left + bytes / CONTROL_FRAME_BYTES);
    }
}

/// Removes the first bytes, at most `most`, and returns them.
fn take<'a>(bytes: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (first, rest) = bytes.split_at(bytes.len().min(most));
    *bytes = rest;
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![0, 0, u8::try_from(payload).unwrap(), kind, 0, 0, 0, 0, 1];
        frame.resize(9 + payload, 0);
        frame
    }

    /// How many of these frames are read before they are too many.
    fn endured(frames: &mut Frames, kind: u8) -> usize {
        (0..5 * CONTROL_FRAMES_MAX).take_while(|_| frames.read(&frame(kind, 8))).count()
    }

    #[tokio::test(start_paused = true)]
    async fn control_frames_of_every_kind_are_limited_but_for_requests_responses_and_time() {
        // PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION, unknown.
        for kind in [2, 3, 4, PING, 7, 8, 9, 200] {
            let mut frames = Frames::new();
            assert!(frames.read(PREFACE));
            assert_eq!(endured(&mut frames, kind), CONTROL_FRAMES_MAX, "{kind}");
            frames.wrote(10 * CONTROL_FRAME_BYTES);
            assert_eq!(endured(&mut frames, kind), 10, "{kind}");
            assert!(frames.read(&frame(HEADERS, 30)));
            assert_eq!(endured(&mut frames, kind), CONTROL_FRAMES_MAX, "{kind}");
            tokio::time::advance(2 * CONTROL_FRAMES_PERIOD).await;
            assert_eq!(endured(&mut frames, kind), CONTROL_FRAMES_MAX, "{kind}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn frames_are_told_apart_however_they_are_cut_and_http_1_has_none() {
        let mut bytes = PREFACE.to_vec();
        for _ in 0..CONTROL_FRAMES_MAX {
            bytes.extend(frame(PING, 8));
            bytes.extend(frame(DATA, 100));
        }
        for size in [1, 7, 9, 10, 4096] {
            let mut frames = Frames::new();
            assert!(bytes.chunks(size).all(|piece| frames.read(piece)), "{size}");
            assert!(!frames.read(&frame(PING, 8)), "{size}");
        }
        let mut frames = Frames::new();
        assert!(frames.read(b"PRI") && frames.read(b"NT / HTTP/1.1\r\n"));
        assert_eq!(endured(&mut frames, PING), 5 * CONTROL_FRAMES_MAX);
    }
}
