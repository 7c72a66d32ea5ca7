//! How large a picture of an aspect ratio is.

/// The longer side of a picture, in pixels.
const PICTURE: u32 = 640;
/// The longer side of an animation, in pixels.
const ANIMATION: u32 = 320;
/// The longest side in units of the shorter one.
const MOST: f64 = 4.0;
/// Shown of a ratio that is refused.
const SHOWN_CHARS: usize = 32;

use crate::domain::OutputKind;

/// Width and height for a ratio such as `16:9` or `1.91:1`.
///
/// # Errors
/// With the reason, for a person.
pub(super) fn size(ratio: &str, kind: OutputKind) -> Result<(u32, u32), String> {
    let shown: String = ratio.chars().take(SHOWN_CHARS).collect();
    let malformed = || format!("the aspect ratio {shown:?} is not of the form 16:9");
    let (width, height) = ratio.split_once(':').ok_or_else(malformed)?;
    let (width, height) = (part(width).ok_or_else(malformed)?, part(height).ok_or_else(malformed)?);
    if width / height > MOST || height / width > MOST {
        return Err(format!("the aspect ratio {shown:?} is beyond {MOST}:1 or 1:{MOST}"));
    }
    let long = match kind {
        OutputKind::Image => PICTURE,
        OutputKind::Video => ANIMATION,
    };
    let unit = f64::from(long) / width.max(height);
    Ok(((width * unit).round() as u32, (height * unit).round() as u32))
}

/// A positive number in plain digits, perhaps with a fraction.
fn part(text: &str) -> Option<f64> {
    let plain = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = text.parse().ok()?;
    (plain && value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_kept() {
        for (ratio, expected) in [
            ("1:1", (640, 640)),
            ("16:9", (640, 360)),
            ("9:16", (360, 640)),
            ("4:5", (512, 640)),
            ("3:2", (640, 427)),
            ("21:9", (640, 274)),
            ("1.91:1", (640, 335)),
            ("1920:1080", (640, 360)),
            ("4:1", (640, 160)),
        ] {
            assert_eq!(size(ratio, OutputKind::Image), Ok(expected), "{ratio}");
        }
        assert_eq!(size("16:9", OutputKind::Video), Ok((320, 180)));
    }

    #[test]
    fn other_texts_are_refused_with_a_reason() {
        for ratio in [
            "", "1", "1:", ":1", "16x9", "0:1", "1:0", "-1:1", "1:1:1", "a:b", "1e2:1", "inf:1",
            ".:1", " 1:1",
        ] {
            let reason = size(ratio, OutputKind::Image).unwrap_err();
            assert!(reason.contains("not of the form"), "{ratio}: {reason}");
        }
        for ratio in ["5:1", "1:5", "100:1"] {
            let reason = size(ratio, OutputKind::Image).unwrap_err();
            assert!(reason.contains("beyond"), "{ratio}: {reason}");
        }
        assert!(size(&"9".repeat(100_000), OutputKind::Image).unwrap_err().len() < 200);
    }
}
