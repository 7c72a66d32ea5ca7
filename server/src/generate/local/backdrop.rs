//! A picture of hills below a sun, in a palette that the words of the prompt decide.

use std::f32::consts::TAU;

use fastrand::Rng;

pub(super) type Colour = [f32; 3];

/// Five colours from dark to light and one for the sun; words. The first row with a word of the
/// prompt decides, or chance.
pub(super) const PALETTES: [(&str, &str); 8] = [
    ("0b0524 2a0f5e 7a1fa2 e0409a ff9ad5 2de2e6", "city street town skyline tower urban neon"),
    ("062a44 0f5873 2f95a5 8fd0cb fbf2d8 ff8c66", "sea ocean lake beach river coast harbour ship"),
    ("04071c 0e1542 232c72 48489a 8f80c8 ffd27a", "night midnight star moon space galaxy"),
    ("0b2a24 1f5a44 4f9560 a5cc86 f2f5cf f2a541", "green forest wood jungle tree park garden"),
    ("231942 5b2a6b b13f71 f3795a ffd58a ffc04d", "dusk sunset evening dawn sunrise purple"),
    ("2e0713 7a1022 c42b35 f26b5e ffd3c2 f7b733", "red fire flame lava volcano autumn orange"),
    ("5a1f4a a8457c e283a8 f8bfcc fff0ea 6fbf8b", "pink coral love spring flower rose"),
    ("26384f 58738f 97b2c8 cfdfe9 fafcfd e07a5f", "blue snow winter ice fog mountain valley"),
];
const HILLS: usize = 5;

pub(super) struct Backdrop {
    pub(super) colours: [Colour; 6],
    size: (u32, u32),
    sun: (f32, f32),
    /// Waves of each hill, the far ones first: how many there are, and where they begin.
    waves: [[(f32, f32); 3]; HILLS],
}

impl Backdrop {
    /// `seed` decides what the words of `prompt` leave open.
    pub(super) fn new(prompt: &str, seed: u64, size: (u32, u32)) -> Self {
        let (mut rng, prompt) = (Rng::with_seed(seed), prompt.to_lowercase());
        let words: Vec<_> = prompt.split(|letter: char| !letter.is_alphanumeric()).collect();
        let is_asked = |known: &str| {
            words.iter().any(|word| *word == known || word.strip_suffix('s') == Some(known))
        };
        let any = PALETTES[rng.usize(..PALETTES.len())];
        let asked = PALETTES.into_iter().find(|(_, words)| words.split(' ').any(is_asked));
        let mut colours = asked.unwrap_or(any).0.split(' ').map(|hex| {
            let [_, rgb @ ..] = u32::from_str_radix(hex, 16).unwrap_or_default().to_be_bytes();
            rgb.map(|part| f32::from(part) / 255.0)
        });
        let colours = std::array::from_fn(|_| colours.next().unwrap_or_default());
        let sun = (0.2 + 0.6 * rng.f32(), 0.15 + 0.2 * rng.f32());
        let waves = [(); HILLS].map(|()| {
            [1.0, 2.5, 6.0].map(|count| (count * (2.0 + 3.0 * rng.f32()), TAU * rng.f32()))
        });
        Self { colours, size, sun, waves }
    }

    /// The colour at `t`: 0 is dark, 1 is light.
    pub(super) fn shade(&self, t: f32) -> Colour {
        let t = t.clamp(0.0, 1.0) * 4.0;
        let from = (t as usize).min(3);
        mix(self.colours[from], self.colours[from + 1], t - from as f32)
    }

    /// The colour of a point at the moment `phase`: from 0 to 1, and 1 is 0 again.
    pub(super) fn colour(&self, x: f32, y: f32, phase: f32) -> Colour {
        let (width, height, phase) = (self.size.0 as f32, self.size.1 as f32, phase * TAU);
        let unit = width.min(height);
        let distance = (x - self.sun.0 * width).hypot(y - self.sun.1 * height) / unit;
        let glow = (1.0 - distance / (0.7 + 0.1 * phase.sin())).max(0.0);
        let sky = mix(self.shade(0.35 + 0.6 * y / height), self.colours[5], 0.7 * glow * glow);
        let mut colour = mix(sky, self.shade(1.0), (0.08 - distance) * unit);
        for (hill, waves) in self.waves.iter().enumerate() {
            let near = (hill + 1) as f32 / HILLS as f32;
            let wave =
                |(count, start): (f32, f32)| (x / unit * count + start + phase).sin() / count;
            let ridge = 0.3 + 0.55 * near - 0.25 * waves.map(wave).iter().sum::<f32>();
            // Positive below the ridge.
            let depth = y - ridge * height;
            colour = mix(colour, self.shade(0.8 - 0.75 * near + 0.4 * depth / height), depth + 0.5);
        }
        colour
    }
}

/// `a` at 0 and below, `b` at 1 and beyond.
pub(super) fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    let t = t.clamp(0.0, 1.0);
    [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}
