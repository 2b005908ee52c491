//! How many positions of a table are won and lost in how many moves.

use hoffman::{SideStats, TableStats};

use crate::svg::Svg;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 620.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 24.0;
/// Where the part of each side begins.
const TOPS: [f64; 2] = [62.0, 346.0];
/// How high the bars of wins, and those of losses, may be.
const TALL: f64 = 92.0;

/// The picture of a table: White to move above, Black to move below, wins up and losses down, on a
/// logarithmic scale.
pub(super) fn draw(stats: &TableStats) -> String {
    let sides = [("White", &stats.white_to_move), ("Black", &stats.black_to_move)];
    let bars = || sides.iter().flat_map(|(_, side)| bars(side));
    let most = bars().map(|bar| bar.count).max().unwrap_or(1);
    let longest = bars().map(|bar| bar.moves).max().unwrap_or(1).max(1);

    let unit = if stats.metric == "dtc" { "conversion" } else { "the end" };
    let title = format!("{}: moves to {unit}", stats.table);
    let words = sides.map(|(name, side)| format!("{name} to move: {}.", tally(side)));
    let mut svg = Svg::new(WIDTH as u32, HEIGHT as u32, &title, &words.join(" "));
    svg.text("title ink", LEFT, 28.0, &title);
    svg.text("faint end", WIDTH - RIGHT, 28.0, "positions, logarithmic");
    if let Some(proves) = &stats.proves {
        svg.text("faint", LEFT, 46.0, &format!("by the rules of the table; certain: {proves}"));
    }
    for ((name, side), top) in sides.into_iter().zip(TOPS) {
        svg.text("ink", LEFT, top, &format!("{name} to move: {}", tally(side)));
        panel(&mut svg, side, top + 16.0, (longest, most));
    }
    svg.finish()
}

struct HistogramBar {
    won: bool,
    moves: u32,
    count: u64,
}

fn bars(side: &SideStats) -> impl Iterator<Item = HistogramBar> {
    side.histogram.iter().map(|&(plies, count)| {
        let moves = plies.unsigned_abs().div_ceil(2);
        HistogramBar { won: plies > 0, moves, count }
    })
}

/// What there is, in words.
fn tally(side: &SideStats) -> String {
    let number = |count: Option<u64>, word: &str| match count {
        Some(count) => format!("{} {word}", grouped(count)),
        None => format!("{word} not known"),
    };
    let parts = [number(side.win, "won"), number(side.draw, "drawn"), number(side.loss, "lost")];
    parts.join(", ")
}

/// A number with blanks between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

/// The bars of a side, and their axes.
fn panel(svg: &mut Svg, side: &SideStats, top: f64, (longest, most): (u32, u64)) {
    let middle = top + TALL + 8.0;
    let scale = (most as f64).log10().max(1.0).ceil();

    // A single position is seen, too.
    let height = |count: u64| TALL * ((count as f64).log10() + 0.15) / (scale + 0.15);
    let mut power = 1.0_f64;
    let mut exponent = 0.0;

    while exponent <= scale {
        let tall = height(power as u64);
        for (y, mark) in [(middle - tall, true), (middle + tall, exponent > 0.0)] {
            svg.line("grid", [LEFT, y, WIDTH - RIGHT, y]);
            if mark && (exponent as u64).is_multiple_of(2) {
                svg.text("faint end", LEFT - 6.0, y + 4.0, &grouped(power as u64));
            }
        }
        power *= 10.0;
        exponent += 1.0;
    }

    let step = (WIDTH - LEFT - RIGHT) / f64::from(longest + 1);
    let x = |moves: u32| LEFT + step * f64::from(moves);
    for HistogramBar { won, moves, count } in bars(side) {
        let tall = height(count);
        let (class, word) = if won { ("win", "won") } else { ("loss", "lost") };
        let y = if won { middle - tall } else { middle };
        let name = format!("{word} in {moves}: {} positions", grouped(count));
        svg.rect(class, [x(moves) + step * 0.1, y, (step * 0.8).max(0.6), tall], &name);
    }

    svg.line("axis", [LEFT, middle, WIDTH - RIGHT, middle]);
    svg.text("faint", WIDTH - RIGHT - 28.0, middle - TALL + 6.0, "won");
    svg.text("faint", WIDTH - RIGHT - 28.0, middle + TALL - 2.0, "lost");

    let every = (longest / 12).max(1).next_multiple_of(if longest > 24 { 5 } else { 1 });
    for mark in (0..=longest).step_by(every as usize) {
        let x = x(mark) + step / 2.0;
        svg.text("faint middle", x, middle + TALL + 26.0, &mark.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }
}
