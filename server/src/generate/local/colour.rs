//! Colours that go together.
//!
//! They are thought of as lightness, chroma and hue of Oklab, in which equal steps
//! look equal, and become bytes of sRGB once.

/// A pixel: red, green, blue of sRGB.
pub(super) type Rgb = [u8; 3];

/// A colour as the eye takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lch {
    /// 0 is black, 1 is white.
    pub(super) lightness: f32,
    /// 0 is grey; more than 0.2 is glaring.
    pub(super) chroma: f32,
    /// In degrees, of any size.
    pub(super) hue: f32,
}

/// Colours from dark to light.
#[derive(Clone)]
pub(super) struct Ramp([Rgb; 256]);

impl Lch {
    /// The colour, or the most colourful one of this lightness and hue.
    pub(super) fn rgb(self) -> Rgb {
        let shows = |chroma| {
            linear(Self { chroma, ..self }).iter().all(|part| (-0.0005..=1.0005).contains(part))
        };
        let (mut low, mut high) = (0.0, self.chroma);
        if shows(high) {
            low = high;
        }
        // Halved until no step is seen between neighbours.
        while high - low > 0.0005 {
            let middle = f32::midpoint(low, high);
            if shows(middle) { low = middle } else { high = middle }
        }
        linear(Self { chroma: low, ..self }).map(encode)
    }
}

impl Ramp {
    /// Goes through the stops in equal steps.
    pub(super) fn through(stops: &[Lch]) -> Self {
        let last = stops.len().saturating_sub(1);
        Self(std::array::from_fn(|at| {
            let t = at as f32 / 255.0 * last as f32;
            let from = (t as usize).min(last.saturating_sub(1));
            let (a, b, t) = (stops[from], stops[(from + 1).min(last)], t - from as f32);
            let between = |a: f32, b: f32| a + (b - a) * t;
            Lch {
                lightness: between(a.lightness, b.lightness),
                chroma: between(a.chroma, b.chroma),
                hue: between(a.hue, b.hue),
            }
            .rgb()
        }))
    }

    /// The colour at `t`: 0 is dark, 1 is light; held at both ends.
    pub(super) fn at(&self, t: f32) -> Rgb {
        // A cast holds at both ends, and takes nonsense for 0.
        self.0[usize::from((t * 255.0) as u8)]
    }
}

/// `a` at 0, `b` at 1 and beyond.
pub(super) fn mix(a: Rgb, b: Rgb, t: f32) -> Rgb {
    let t = (t.clamp(0.0, 1.0) * 256.0) as i32;
    let part = |a: u8, b: u8| (i32::from(a) + (((i32::from(b) - i32::from(a)) * t) >> 8)) as u8;
    [part(a[0], b[0]), part(a[1], b[1]), part(a[2], b[2])]
}

/// How light a pixel looks, from 0 to 1.
pub(super) fn luma(pixel: Rgb) -> f32 {
    let weighed = 54 * u32::from(pixel[0]) + 183 * u32::from(pixel[1]) + 19 * u32::from(pixel[2]);
    weighed as f32 / (256.0 * 255.0)
}

/// Oklab to linear sRGB, after its author's definition.
fn linear(colour: Lch) -> [f32; 3] {
    let (sin, cos) = colour.hue.to_radians().sin_cos();
    let (a, b) = (colour.chroma * cos, colour.chroma * sin);
    let cube = |x: f32| x * x * x;
    let l = cube(colour.lightness + 0.396_337_78 * a + 0.215_803_76 * b);
    let m = cube(colour.lightness - 0.105_561_346 * a - 0.063_854_17 * b);
    let s = cube(colour.lightness - 0.089_484_18 * a - 1.291_485_5 * b);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
}

fn encode(part: f32) -> u8 {
    let part = part.clamp(0.0, 1.0);
    let curved =
        if part <= 0.003_130_8 { part * 12.92 } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
    (curved * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours_come_out() {
        let of = |lightness, chroma, hue| Lch { lightness, chroma, hue }.rgb();
        assert_eq!(of(0.0, 0.0, 0.0), [0, 0, 0]);
        assert_eq!(of(1.0, 0.0, 0.0), [255, 255, 255]);
        let red = of(0.628, 0.2577, 29.23);
        assert!(red[0] > 250 && red[1] < 12 && red[2] < 12, "{red:?}");
    }

    #[test]
    fn mixing_starts_and_ends_where_it_should() {
        let (a, b) = ([0, 100, 255], [255, 50, 0]);
        assert_eq!(mix(a, b, 0.0), a);
        assert_eq!(mix(a, b, 1.0), b);
        assert_eq!(mix(a, b, f32::NAN), a);
    }
}
