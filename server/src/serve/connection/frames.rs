//! Counts HTTP/2 control frames, which cost work and carry nothing.
//!
//! The HTTP library answers PING and SETTINGS and reads WINDOW_UPDATE and PRIORITY without end.
//! Eight connections that flood it make every other request wait for tens of milliseconds.

/// How an HTTP/2 connection begins: four bytes that no method of HTTP/1.1 has, and twenty more.
const PREFACE: &[u8; 4] = b"PRI ";
const PREFACE_REST_BYTES: usize = 20;
/// Length (three bytes) and type of a frame. The rest of its header is skipped with its payload.
const HEADER_BYTES: usize = 4;
const HEADER_REST_BYTES: usize = 5;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
/// A client acknowledges what it reads: so many bytes of responses excuse one control frame.
const BYTES_PER_FRAME: usize = 256;

#[derive(Default)]
pub(super) struct Frames {
    /// `None` until the first four bytes have come.
    is_http2: Option<bool>,
    header: Vec<u8>,
    /// Bytes to skip until the next header.
    rest: usize,
    /// Control frames since the last request or [`Frames::reset`].
    control: usize,
}

impl Frames {
    /// Takes what the peer has sent. Returns how many control frames have come.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> usize {
        let mut most = self.control;
        while !bytes.is_empty() && self.is_http2 != Some(false) {
            self.rest -= take(&mut bytes, self.rest).len();
            self.header.extend(take(&mut bytes, HEADER_BYTES - self.header.len()));
            let [a, b, c, kind] = self.header[..] else { continue };
            self.header.clear();
            if self.is_http2.is_none() {
                self.is_http2 = Some([a, b, c, kind] == *PREFACE);
                self.rest = PREFACE_REST_BYTES;
                continue;
            }
            self.rest = u32::from_be_bytes([0, a, b, c]) as usize + HEADER_REST_BYTES;
            match kind {
                HEADERS => self.reset(),
                DATA => {}
                _ => self.control += 1,
            }
            most = most.max(self.control);
        }
        most
    }

    /// Takes the number of bytes that the peer is sent.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.control = self.control.saturating_sub(bytes / BYTES_PER_FRAME);
    }

    pub(super) fn reset(&mut self) {
        self.control = 0;
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

    fn frame(kind: u8, payload: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, payload, kind, 0, 0, 0, 0, 1];
        frame.resize(9 + usize::from(payload), 0);
        frame
    }

    #[test]
    fn control_frames_of_every_kind_are_counted_but_for_requests_and_responses() {
        let preface = [&PREFACE[..], &[0; PREFACE_REST_BYTES]].concat();
        // PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION, unknown.
        for kind in [2, 3, 4, PING, 7, 8, 9, 200] {
            let mut frames = Frames::default();
            let flood = frame(kind, 8).repeat(20);
            assert_eq!((frames.read(&preface), frames.read(&flood)), (0, 20), "{kind}");
            frames.wrote(5 * BYTES_PER_FRAME);
            assert_eq!(frames.read(&frame(DATA, 8)), 15, "{kind}");
            assert_eq!(frames.read(&[flood, frame(HEADERS, 30)].concat()), 35, "{kind}");
            assert_eq!(frames.read(&frame(kind, 8)), 1, "{kind}");
            frames.reset();
            assert_eq!(frames.read(&[]), 0, "{kind}");
        }
    }

    #[test]
    fn frames_are_told_apart_however_they_are_cut_and_http_1_has_none() {
        let preface = [&PREFACE[..], &[0; PREFACE_REST_BYTES]].concat();
        let frames = [frame(PING, 8), frame(DATA, 100), frame(PING, 8)].concat();
        let bytes = [preface, frames.repeat(10)].concat();
        for size in [1, 7, 9, 10, 4096] {
            let mut frames = Frames::default();
            let counts = bytes.chunks(size).map(|piece| frames.read(piece));
            assert_eq!(counts.last(), Some(20), "{size}");
        }
        let mut frames = Frames::default();
        assert_eq!(frames.read(b"PRI") + frames.read(b"NT / HTTP/1.1\r\n"), 0);
        assert_eq!(frames.read(&frame(PING, 8).repeat(100)), 0);
    }
}
