//! What the words of a prompt ask for: a palette, and the elements of a scene.

use std::ops::Range;

use fastrand::Rng;
use image::Rgb;

use super::canvas::{Colour, mix};

/// Later words choose neither palette nor elements.
const WORDS_MAX: usize = 400;

/// A palette (five colours from dark to light, and an accent), elements of a scene, and
/// words. Each row with a word of the prompt adds its elements; the first of them that
/// has a palette gives it, so that colours and times of day come before places.
pub(super) const ROWS: [&str; 24] = [
    "101114 36383d 74777d b5b7ba f1f0ec d9d4c7||noir black monochrome ink grey gray",
    "2e0713 7a1022 c42b35 f26b5e ffd3c2 f7b733||red ruby crimson scarlet fire flame lava",
    "0b2a24 1f5a44 4f9560 a5cc86 f2f5cf f2a541||green emerald jade",
    "0a1f44 184a84 3f86c0 8fc4e4 e9f6fb ff9f5a||blue azure sapphire navy",
    "5a1f4a a8457c e283a8 f8bfcc fff0ea 6fbf8b||pink coral love rose blossom spring",
    "1e1145 47297f 8257b8 c19ae0 f4e4fa ffc857||purple violet lavender lilac magic dream",
    "5b3a12 b0761d e9b230 fbdc74 fff6d6 3f7cac||yellow lemon sunny sunflower",
    "2f1420 7a2f25 c4622d eca85a fdebc0 e23f2a|leaves|autumn fall orange gold golden amber",
    "231942 5b2a6b b13f71 f3795a ffd58a ffc04d|sun|dusk sunset evening twilight",
    "1f2a56 4f5590 a4749f f2a58e ffe6bf ff8a5c|sun|dawn sunrise morning",
    "0b0524 2a0f5e 7a1fa2 e0409a ff9ad5 2de2e6|skyline|neon cyberpunk synthwave",
    "04071c 0e1542 232c72 48489a 8f80c8 ffd27a|stars sun|night midnight star moon",
    "07061f 1c1149 45287c 8a4f9e e8a6c9 ffd27a|stars|space galaxy nebula planet cosmos",
    "26384f 58738f 97b2c8 cfdfe9 fafcfd e07a5f|sun snow|snow snowy winter ice frost arctic",
    "1d3540 4a6b74 86a5a8 c3d4d0 f5f2e8 e8a15f|sun ridges|fog mist haze cloud sky",
    "062a44 0f5873 2f95a5 8fd0cb fbf2d8 ff8c66|sun water|harbour harbor boat ship sail lighthouse",
    "062a44 0f5873 2f95a5 8fd0cb fbf2d8 ff8c66|sun water|sea ocean wave lake beach river coast",
    "0b2a24 1f5a44 4f9560 a5cc86 f2f5cf f2a541|sun trees|forest wood jungle tree pine park",
    "0a1f44 184a84 3f86c0 8fc4e4 e9f6fb ff9f5a|rain|rain rainy storm",
    "|sun ridges|mountain hill valley landscape desert canyon meadow field cliff volcano",
    "|skyline|city street building town skyline tokyo york paris london tower urban",
    "|flowers|flower rose blossom bloom garden petal bouquet sunflower orchid peony",
    "|portrait|portrait face woman man girl boy person people lady king queen hero",
    "|portrait fox|fox dog puppy wolf cat kitten animal pet tiger",
];

/// Rows with palettes for prompts that ask for none: all but the grey one.
const PALETTES: Range<usize> = 1..19;
/// Elements for prompts that ask for none.
const FREE: [&str; 5] = ["", "stars", "flowers", "sun ridges", "sun water"];

/// The colours and the elements of a picture.
pub(super) struct Theme {
    /// From dark to light.
    stops: [Colour; 5],
    /// Stands out.
    pub(super) accent: Colour,
    elements: String,
}

impl Theme {
    /// What the words of `prompt` ask for; `rng` decides what they leave open.
    pub(super) fn new(prompt: &str, rng: &mut Rng) -> Self {
        let words = prompt.split(|letter: char| !letter.is_alphanumeric());
        let words: Vec<String> =
            words.filter(|word| !word.is_empty()).take(WORDS_MAX).map(str::to_lowercase).collect();
        let is_asked = |row: &[&str; 3]| {
            let is_in = |word: &str| row[2].split(' ').any(|known| known == word);
            words.iter().any(|word| is_in(word) || word.strip_suffix('s').is_some_and(is_in))
        };
        let rows = ROWS.map(|row| std::array::from_fn(|at| row.split('|').nth(at).unwrap_or("")));
        let (free, any) = (FREE[rng.usize(..FREE.len())], rows[rng.usize(PALETTES)][0]);
        let asked: Vec<[&str; 3]> = rows.into_iter().filter(is_asked).collect();
        let mut elements = asked.iter().map(|row| row[1]).collect::<Vec<_>>().join(" ");
        if elements.trim().is_empty() {
            elements = free.to_owned();
        }
        let palette = asked.iter().map(|row| row[0]).find(|palette| !palette.is_empty());
        let mut colours = palette.unwrap_or(any).split(' ').map(|hex| {
            let [_, rgb @ ..] = u32::from_str_radix(hex, 16).unwrap_or_default().to_be_bytes();
            Rgb(rgb)
        });
        let mut next = || colours.next().unwrap_or(Rgb([0; 3]));
        Self { stops: std::array::from_fn(|_| next()), accent: next(), elements }
    }

    /// The colour at `t`: 0 is dark, 1 is light.
    pub(super) fn at(&self, t: f32) -> Colour {
        let t = t.clamp(0.0, 1.0) * 4.0;
        let from = (t as usize).min(3);
        mix(self.stops[from], self.stops[from + 1], t - from as f32)
    }

    pub(super) fn has(&self, element: &str) -> bool {
        self.elements.split(' ').any(|name| name == element)
    }
}
