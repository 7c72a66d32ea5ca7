//! Cuts floods of HTTP/2 control frames, which cost work and carry nothing.
//!
//! The HTTP library answers PING and SETTINGS and reads PRIORITY and WINDOW_UPDATE without end.
//! So the frames are counted as they come. A client needs some for each request and for what it
//! reads, and a few in between; what exceeds that is a flood.

use tokio::time::Instant;

use crate::limits::{
    CONTROL_FRAMES_MAX, CONTROL_FRAMES_PER_REQUEST, CONTROL_FRAMES_PER_SECOND,
    CONTROL_FRAMES_READ_BYTES,
};

/// How every HTTP/2 connection begins.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length (three bytes) and type. The rest of a frame's header is skipped with its payload.
const HEADER_BYTES: usize = 4;
const HEADER_REST_BYTES: u32 = 5;
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
    /// Control frames that may still come.
    left: u32,
    /// Until when `left` was replenished by time.
    replenished: Instant,
    /// Bytes written that have not replenished it.
    written: usize,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            preface: 0,
            is_http1: false,
            header: Vec::new(),
            rest: 0,
            left: CONTROL_FRAMES_MAX,
            replenished: Instant::now(),
            written: 0,
        }
    }

    /// Takes what the peer has sent; `false` if it sends too many control frames.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> bool {
        let mut is_flood = false;
        let missing = &PREFACE[self.preface..];
        let preface = take(&mut bytes, missing.len());
        self.preface += preface.len();
        self.is_http1 |= !missing.starts_with(preface);
        while !bytes.is_empty() && !self.is_http1 {
            self.rest -= take(&mut bytes, self.rest).len();
            self.header.extend(take(&mut bytes, HEADER_BYTES - self.header.len()));
            if let [a, b, c, kind] = self.header[..] {
                self.header.clear();
                self.rest = (u32::from_be_bytes([0, a, b, c]) + HEADER_REST_BYTES) as usize;
                is_flood |= !self.count(kind);
            }
        }
        !is_flood
    }

    /// Whether a frame of this type may come.
    fn count(&mut self, kind: u8) -> bool {
        if kind == HEADERS {
            self.replenish(CONTROL_FRAMES_PER_REQUEST);
        }
        if matches!(kind, DATA | HEADERS) {
            return true;
        }
        if self.left == 0 {
            let seconds = self.replenished.elapsed().as_secs_f64();
            self.replenished = Instant::now();
            self.replenish((seconds * f64::from(CONTROL_FRAMES_PER_SECOND)) as u32);
        }
        let may_come = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may_come
    }

    fn replenish(&mut self, frames: u32) {
        self.left = self.left.saturating_add(frames).min(CONTROL_FRAMES_MAX);
    }

    /// Takes the number of bytes that the peer is sent.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        let frames = self.written / CONTROL_FRAMES_READ_BYTES;
        if frames > 0 {
            self.written %= CONTROL_FRAMES_READ_BYTES;
            self.replenish(u32::try_from(frames).unwrap_or(u32::MAX));
        }
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
    use std::time::Duration;

    use super::*;

    const PING: u8 = 6;
    const SETTINGS: u8 = 4;
    const PRIORITY: u8 = 2;
    const WINDOW_UPDATE: u8 = 8;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![0, 0, u8::try_from(payload).unwrap(), kind, 0, 0, 0, 0, 1];
        frame.resize(9 + payload, 0);
        frame
    }

    fn http2() -> Frames {
        let mut frames = Frames::new();
        assert!(frames.read(PREFACE));
        frames
    }

    /// How many of these frames are read before they are too many, at most `limit`.
    fn endured(frames: &mut Frames, frame: &[u8], limit: u32) -> u32 {
        (0..limit).take_while(|_| frames.read(frame)).count().try_into().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn every_kind_of_control_frame_is_limited() {
        for kind in [PRIORITY, 3, SETTINGS, PING, 7, WINDOW_UPDATE, 9, 200] {
            let mut frames = http2();
            let limit = 2 * CONTROL_FRAMES_MAX;
            assert_eq!(endured(&mut frames, &frame(kind, 8), limit), CONTROL_FRAMES_MAX, "{kind}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn frames_are_told_apart_however_they_are_cut() {
        let mut bytes = PREFACE.to_vec();
        for _ in 0..CONTROL_FRAMES_MAX {
            bytes.extend(frame(PING, 8));
            bytes.extend(frame(DATA, 100));
        }
        let next = frame(PING, 8);
        for size in [1, 7, 9, 10, 4096] {
            let mut frames = Frames::new();
            assert!(bytes.chunks(size).all(|piece| frames.read(piece)), "{size}");
            assert!(!frames.read(&next), "{size}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_responses_and_time_allow_more() {
        let mut frames = http2();
        let update = frame(WINDOW_UPDATE, 4);
        assert_eq!(endured(&mut frames, &update, 9_999), CONTROL_FRAMES_MAX);
        assert!(frames.read(&frame(HEADERS, 30)));
        assert_eq!(endured(&mut frames, &update, 9_999), CONTROL_FRAMES_PER_REQUEST);
        frames.wrote(10 * CONTROL_FRAMES_READ_BYTES);
        assert_eq!(endured(&mut frames, &update, 9_999), 10);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(endured(&mut frames, &update, 9_999), 2 * CONTROL_FRAMES_PER_SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn http_1_is_not_counted() {
        let mut frames = Frames::new();
        assert!(frames.read(b"PRI"));
        assert!(frames.read(b"NT / HTTP/1.1\r\n"));
        assert_eq!(endured(&mut frames, &frame(PING, 8), 5_000), 5_000);
    }
}
