//! Paint on pixels: grounds, discs, shapes and what lies below a line.

use super::colour::{Rgb, mix};

/// A picture that is being painted.
#[derive(Clone)]
pub(super) struct Canvas {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Row by row.
    pub(super) pixels: Vec<Rgb>,
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self { width, height, pixels: vec![[0; 3]; (width * height) as usize] }
    }

    /// The shorter side: the measure of things that are drawn.
    pub(super) fn short(&self) -> f32 {
        self.width.min(self.height) as f32
    }

    /// Width and height.
    pub(super) fn sides(&self) -> (f32, f32) {
        (self.width as f32, self.height as f32)
    }

    /// Paints each row in the colour for its place between 0 at the top and 1.
    pub(super) fn rows(&mut self, colour: impl Fn(f32) -> Rgb) {
        let height = self.height as f32;
        for (y, row) in self.pixels.chunks_exact_mut(self.width as usize).enumerate() {
            row.fill(colour((y as f32 + 0.5) / height));
        }
    }

    /// A disc with an edge `soft` pixels wide.
    pub(super) fn disc(&mut self, centre: (f32, f32), radius: f32, soft: f32, paint: (Rgb, f32)) {
        let soft = soft.max(1.0);
        let reach = radius + soft;
        self.shape(centre, (reach, reach), paint, |x, y| {
            ((radius - (x * x + y * y).sqrt()) / soft + 0.5).clamp(0.0, 1.0)
        });
    }

    /// Light that fades from a centre to nothing.
    pub(super) fn glow(&mut self, centre: (f32, f32), radius: f32, paint: (Rgb, f32)) {
        let scale = 1.0 / (radius * radius);
        self.shape(centre, (radius, radius), paint, |x, y| {
            let left = (1.0 - (x * x + y * y) * scale).max(0.0);
            left * left
        });
    }

    /// An ellipse with clean edges.
    pub(super) fn ellipse(&mut self, centre: (f32, f32), radii: (f32, f32), paint: (Rgb, f32)) {
        let (rx, ry) = radii;
        let least = rx.min(ry);
        self.shape(centre, (rx + 1.0, ry + 1.0), paint, |x, y| {
            let (u, v) = (x / rx, y / ry);
            ((1.0 - (u * u + v * v).sqrt()) * least + 0.5).clamp(0.0, 1.0)
        });
    }

    /// A triangle with clean edges; its corners in either direction.
    pub(super) fn triangle(&mut self, corners: [(f32, f32); 3], paint: (Rgb, f32)) {
        let [a, b, c] = corners;
        let centre = ((a.0 + b.0 + c.0) / 3.0, (a.1 + b.1 + c.1) / 3.0);
        let far = |pick: fn((f32, f32)) -> f32, from: f32| {
            corners.iter().map(|corner| (pick(*corner) - from).abs()).fold(1.0, f32::max) + 1.0
        };
        let reach = (far(|p| p.0, centre.0), far(|p| p.1, centre.1));
        let turn = ((b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)).signum();
        // Distance to the inner side of an edge.
        let edge = |from: (f32, f32), to: (f32, f32), x: f32, y: f32| {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = (dx * dx + dy * dy).sqrt().max(0.001);
            turn * (dx * (y - from.1) - dy * (x - from.0)) / length
        };
        self.shape(centre, reach, paint, |x, y| {
            let (x, y) = (x + centre.0, y + centre.1);
            let inner = edge(a, b, x, y).min(edge(b, c, x, y)).min(edge(c, a, x, y));
            (inner + 0.5).clamp(0.0, 1.0)
        });
    }

    /// Paints where `cover`, given the distance from the centre, is more than 0.
    /// `reach` is how far that is at most.
    pub(super) fn shape(
        &mut self,
        centre: (f32, f32),
        reach: (f32, f32),
        paint: (Rgb, f32),
        cover: impl Fn(f32, f32) -> f32,
    ) {
        let (cx, cy) = centre;
        // Casts hold at 0.
        let (left, top) = ((cx - reach.0) as u32, (cy - reach.1) as u32);
        let right = ((cx + reach.0 + 1.0) as u32).min(self.width);
        let bottom = ((cy + reach.1 + 1.0) as u32).min(self.height);
        let (colour, strength) = paint;
        for y in top..bottom {
            for x in left..right {
                let share = cover(x as f32 + 0.5 - cx, y as f32 + 0.5 - cy) * strength;
                if share > 0.003 {
                    let pixel = &mut self.pixels[(y * self.width + x) as usize];
                    *pixel = mix(*pixel, colour, share);
                }
            }
        }
    }

    /// Paints what is below a line: `line` has the height in pixels from the top
    /// for each column, and `colour` gets that of each row.
    pub(super) fn below(&mut self, line: &[f32], colour: impl Fn(f32) -> Rgb) {
        let rows: Vec<Rgb> = (0..self.height).map(|y| colour(y as f32)).collect();
        for (x, edge) in line.iter().enumerate().take(self.width as usize) {
            let first = edge.max(0.0) as u32;
            for y in first..self.height {
                let inside = y as f32 + 1.0 - edge;
                let pixel = &mut self.pixels[y as usize * self.width as usize + x];
                let paint = rows[y as usize];
                *pixel = if inside < 1.0 { mix(*pixel, paint, inside) } else { paint };
            }
        }
    }
}
