//! One whole order, drawn: plain work without waiting, for a thread of its own.

use bytes::Bytes;

use super::canvas::Canvas;
use super::motif::Scene;
use super::{base, file};
use crate::domain::{Media, OutputKind};
use crate::generate::Output;

/// Moments of an animation.
const FRAMES: u16 = 16;

/// What is to be drawn.
pub(super) struct Drawing {
    pub(super) prompt: Box<str>,
    pub(super) kind: OutputKind,
    pub(super) size: (u32, u32),
    pub(super) count: u32,
    pub(super) seed: u64,
    /// Files of pictures to start from.
    pub(super) bases: Vec<Bytes>,
}

impl Drawing {
    /// The same drawing gives the same files.
    ///
    /// # Errors
    /// With the reason, for a person.
    pub(super) fn draw(&self) -> Result<Vec<Output>, String> {
        let bases = self
            .bases
            .iter()
            .map(base::read)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|reason| format!("an input image cannot be read: {reason}"))?;
        let base = (!bases.is_empty()).then(|| base::fit(&bases, self.size));
        (0..self.count).map(|at| self.output(u64::from(at), base.as_ref())).collect()
    }

    fn output(&self, variation: u64, base: Option<&Canvas>) -> Result<Output, String> {
        let scene = Scene::new(&self.prompt, self.seed, variation);
        let (width, height) = self.size;
        let moment = |phase: f32| {
            let mut canvas = scene.paint(width, height, phase);
            if let Some(base) = base {
                base::lay_under(&mut canvas, base, &scene.palette.ramp);
            }
            canvas
        };
        let (bytes, media) = match self.kind {
            OutputKind::Image => {
                (file::png(&moment(0.0)).map_err(|error| error.to_string())?, Media::Png)
            }
            OutputKind::Video => {
                let phases = (0..FRAMES).map(|frame| f32::from(frame) / f32::from(FRAMES));
                let frames: Vec<_> = phases.map(moment).collect();
                (file::gif(&frames).map_err(|error| error.to_string())?, Media::Gif)
            }
        };
        Ok(Output { bytes, media, width, height })
    }
}

#[cfg(test)]
mod tests;
