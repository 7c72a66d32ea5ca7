//! What a prompt asks for, as far as a painter without a model can tell: its words
//! choose colours and a motif; where they say nothing, its seed does.

use super::chance::Chance;
use super::colour::{Lch, Ramp, Rgb};

/// Words further on are not looked at.
const WORDS_MAX: usize = 400;

/// What is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motif {
    /// Folds of cloth or smoke.
    Silk,
    /// Layers of cut paper.
    Paper,
    /// Discs of light.
    Orbs,
    /// A flower.
    Bloom,
    /// Ridges in haze.
    Hills,
    /// Ridges with trees.
    Woods,
    /// Water up to a horizon.
    Sea,
    /// A head and shoulders.
    Portrait,
    /// Houses at night or in haze.
    City,
    /// Stars, and a planet.
    Space,
    /// A cat.
    Cat,
    /// A fox, or another with a pointed snout.
    Fox,
}

/// The colours of a picture.
#[derive(Clone)]
pub(super) struct Palette {
    /// From dark to light.
    pub(super) ramp: Ramp,
    /// Stands out from the rest.
    pub(super) accent: Rgb,
}

/// Hues at the dark and at the light end, in degrees, and the rest of a palette.
#[derive(Clone, Copy)]
struct Tone {
    hues: (f32, f32),
    chroma: f32,
    lightness: (f32, f32),
    accent: f32,
}

const FREE: [Motif; 6] =
    [Motif::Silk, Motif::Paper, Motif::Orbs, Motif::Bloom, Motif::Hills, Motif::Sea];

const MOTIFS: &[(Motif, &str)] = &[
    (Motif::Cat, "cat kitten kitty animal creature pet"),
    (Motif::Fox, "fox dog puppy wolf coyote husky"),
    (
        Motif::Portrait,
        "portrait face woman man girl boy person people lady king queen selfie character hero \
         knight wizard princess",
    ),
    (
        Motif::City,
        "city street skyline building town tokyo york paris london cyberpunk urban downtown \
         architecture tower castle house",
    ),
    (
        Motif::Space,
        "space galaxy star planet nebula cosmos universe cosmic astronaut rocket spaceship moon \
         alien orbit saturn mars stars",
    ),
    (Motif::Woods, "forest wood woods jungle tree pine woodland grove park bear deer"),
    (
        Motif::Sea,
        "ocean sea wave water lake beach harbour harbor river coast island ship boat sail horizon \
         underwater fish lighthouse",
    ),
    (
        Motif::Hills,
        "mountain hill valley landscape desert dune canyon field meadow volcano cliff road sky \
         cloud fog mist dawn dusk sunset sunrise snow winter autumn",
    ),
    (
        Motif::Bloom,
        "flower rose blossom bloom garden lotus mandala sunflower tulip bouquet petal spring \
         butterfly orchid peony",
    ),
    (
        Motif::Orbs,
        "light bubble bokeh balloon lantern sphere orb dream candle party festival glass marble",
    ),
    (
        Motif::Paper,
        "paper map layer origami collage pattern geometric texture topographic abstract poster",
    ),
    (
        Motif::Silk,
        "silk smoke fabric plasma marble fluid liquid flow aurora fire flame lava dragon",
    ),
];

/// Times and colours: they decide before places do.
const SAID: &[(Tone, &str)] = &[
    (tone(285.0, 432.0, 0.135, 0.2, 0.92, 75.0), "dusk sunset evening twilight"),
    (tone(262.0, 420.0, 0.10, 0.3, 0.95, 25.0), "dawn sunrise morning"),
    (tone(285.0, 350.0, 0.19, 0.14, 0.82, 195.0), "neon cyberpunk synthwave vaporwave glitch"),
    (tone(262.0, 300.0, 0.12, 0.1, 0.86, 85.0), "night midnight"),
    (tone(8.0, 42.0, 0.185, 0.2, 0.88, 85.0), "red ruby crimson scarlet blood"),
    (tone(165.0, 112.0, 0.10, 0.2, 0.93, 60.0), "green emerald jade"),
    (tone(262.0, 215.0, 0.12, 0.24, 0.95, 60.0), "blue azure sapphire navy"),
    (tone(350.0, 375.0, 0.12, 0.36, 0.95, 140.0), "pink"),
    (tone(295.0, 325.0, 0.13, 0.25, 0.94, 90.0), "purple violet lavender lilac magenta"),
    (tone(55.0, 100.0, 0.13, 0.42, 0.97, 250.0), "yellow lemon sunny"),
    (
        tone(28.0, 92.0, 0.115, 0.3, 0.95, 225.0),
        "autumn fall amber orange gold golden honey copper",
    ),
    (tone(258.0, 215.0, 0.045, 0.38, 0.98, 20.0), "snow snowy ice winter frost white cold"),
    (tone(250.0, 250.0, 0.008, 0.12, 0.96, 30.0), "noir black monochrome ink charcoal grey gray"),
];

/// Places and things, which have colours too.
const IMPLIED: &[(Tone, &str)] = &[
    (tone(262.0, 300.0, 0.12, 0.1, 0.86, 85.0), "space galaxy nebula moon star cosmic universe"),
    (tone(165.0, 112.0, 0.10, 0.2, 0.93, 60.0), "forest jungle tree wood moss leaf park meadow"),
    (
        tone(262.0, 188.0, 0.11, 0.24, 0.95, 45.0),
        "ocean sea wave water river lake underwater beach rain coast ship boat",
    ),
    (tone(28.0, 92.0, 0.115, 0.3, 0.95, 225.0), "desert sand dune canyon"),
    (tone(15.0, 98.0, 0.17, 0.2, 0.9, 40.0), "fire lava flame volcano hot"),
    (tone(8.0, 42.0, 0.185, 0.2, 0.88, 85.0), "dragon"),
    (tone(258.0, 215.0, 0.045, 0.38, 0.98, 20.0), "fog mist arctic glacier cloud"),
    (tone(350.0, 375.0, 0.12, 0.36, 0.95, 140.0), "blossom rose spring sakura love peony"),
    (tone(295.0, 325.0, 0.13, 0.25, 0.94, 90.0), "magic dream"),
    (tone(55.0, 100.0, 0.13, 0.42, 0.97, 250.0), "sun sunflower"),
];

const fn tone(dark: f32, light: f32, chroma: f32, low: f32, high: f32, accent: f32) -> Tone {
    Tone { hues: (dark, light), chroma, lightness: (low, high), accent }
}

/// The motif that a prompt names first, or one that chance picks.
pub(super) fn motif(prompt: &str, chance: &mut Chance) -> Motif {
    let free = FREE[chance.below(FREE.len())];
    first_named(prompt, MOTIFS).unwrap_or(free)
}

/// The colours that a prompt names first, or some that chance picks; never quite
/// the same ones twice.
pub(super) fn palette(prompt: &str, chance: &mut Chance) -> Palette {
    let free = free_tone(chance);
    let named = first_named(prompt, SAID).or_else(|| first_named(prompt, IMPLIED));
    let tone = named.unwrap_or(free);
    let shift = chance.between(-14.0, 14.0);
    let (low, high) = tone.lightness;
    let (dark, light) = tone.hues;
    let bend = chance.between(-10.0, 10.0);
    let stop = |t: f32| Lch {
        lightness: low + (high - low) * t,
        // Colour is strongest between dark and light.
        chroma: tone.chroma * (0.62 + 1.6 * t * (1.0 - t)),
        hue: dark + (light - dark) * t + shift + bend * (4.0 * t * (1.0 - t)),
    };
    let stops: [Lch; 7] = std::array::from_fn(|at| stop(at as f32 / 6.0));
    let accent =
        Lch { lightness: 0.76, chroma: (tone.chroma * 1.25).max(0.1), hue: tone.accent + shift };
    Palette { ramp: Ramp::through(&stops), accent: accent.rgb() }
}

/// A tone of no name: any hue in the light, on its way to blue or violet in the
/// dark, as shadows are, and an accent from across.
fn free_tone(chance: &mut Chance) -> Tone {
    let light = chance.between(0.0, 360.0);
    let shade = chance.between(250.0, 310.0);
    // The shorter way around.
    let way = (shade - light + 540.0).rem_euclid(360.0) - 180.0;
    let dark = light + way * chance.between(0.35, 0.8);
    Tone {
        hues: (dark, light),
        chroma: chance.between(0.085, 0.15),
        lightness: (chance.between(0.18, 0.34), chance.between(0.88, 0.96)),
        accent: light + chance.between(140.0, 220.0),
    }
}

/// The entry that has the first word of a text that is in any.
fn first_named<T: Copy>(text: &str, entries: &[(T, &str)]) -> Option<T> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).take(WORDS_MAX).find_map(|word| {
        let word = word.to_lowercase();
        let one = word.strip_suffix('s').unwrap_or(&word);
        let is_in = |names: &str| names.split_whitespace().any(|name| name == word || name == one);
        entries.iter().find(|(_, names)| is_in(names)).map(|(entry, _)| *entry)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motif_of(prompt: &str) -> Motif {
        motif(prompt, &mut Chance::new(7))
    }

    #[test]
    fn the_first_word_that_is_known_names_the_motif() {
        assert_eq!(motif_of("A quiet forest by the sea"), Motif::Woods);
        assert_eq!(motif_of("The SEA, by a forest"), Motif::Sea);
        assert_eq!(motif_of("two cats"), Motif::Cat);
        assert_eq!(motif_of("portrait of a man in a city"), Motif::Portrait);
    }

    #[test]
    fn without_a_known_word_chance_picks() {
        let picked: Vec<_> =
            (0..40).map(|seed| motif("Ein Gedicht", &mut Chance::new(seed))).collect();
        for motif in FREE {
            assert!(picked.contains(&motif), "{motif:?}");
        }
    }

    #[test]
    fn a_forest_is_green_and_an_ocean_is_blue() {
        for seed in 0..20 {
            let of = |prompt| palette(prompt, &mut Chance::new(seed)).ramp.at(0.5);
            let (forest, ocean) = (of("forest"), of("ocean"));
            assert!(forest[1] > forest[0] && forest[1] > forest[2], "{forest:?}");
            assert!(ocean[2] > ocean[0] && ocean[1] > ocean[0], "{ocean:?}");
        }
    }
}
