//! Writing games: tags, and moves with numbers, comments and variations, in lines of at
//! most 80 characters.

use std::fmt::Write as _;

use hoffman::{Color, Value};

/// The longest line.
const WIDTH: usize = 80;

/// A tag pair.
pub fn tag(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("[{name} \"{value}\"]\n")
}

/// The words of the moves of a game, with the place in it.
#[derive(Debug, Default)]
pub struct Movetext {
    words: Vec<String>,
    /// Whether the next word follows without a blank.
    glued: bool,
    /// Half moves from the beginning of a game to the place, and whether the next one needs its
    /// number even if it is Black's.
    place: LinePlace,
    /// The places before the variations that are open.
    outer: Vec<LinePlace>,
}

#[derive(Clone, Copy, Debug)]
struct LinePlace {
    half_moves: u64,
    number: bool,
}

impl Default for LinePlace {
    fn default() -> LinePlace {
        LinePlace { half_moves: 0, number: true }
    }
}

impl Movetext {
    /// Moves from a position on whose next move has that number.
    pub fn starting(turn: Color, number: u32) -> Movetext {
        let half_moves = 2 * u64::from(number.saturating_sub(1)) + u64::from(turn == Color::Black);
        Movetext { place: LinePlace { half_moves, number: true }, ..Movetext::default() }
    }

    /// A move, with its number where it needs one.
    pub fn play(&mut self, san: &str) {
        let number = self.place.half_moves / 2 + 1;
        if self.place.half_moves.is_multiple_of(2) {
            self.word(format!("{number}."));
        } else if self.place.number {
            self.word(format!("{number}..."));
        }
        self.word(san.to_owned());
        self.place.half_moves += 1;
        self.place.number = false;
    }

    /// A sign behind a move.
    pub fn nag(&mut self, nag: u8) {
        self.word(format!("${nag}"));
    }

    /// A comment.
    pub fn comment(&mut self, text: &str) {
        // A brace would end it.
        let text = text.replace('}', ")");
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            words.push("");
        }
        let last = words.len() - 1;
        for (at, word) in words.into_iter().enumerate() {
            let (open, close) = (if at == 0 { "{" } else { "" }, if at == last { "}" } else { "" });
            self.word(format!("{open}{word}{close}"));
        }
        self.place.number = true;
    }

    /// Begins a variation in place of the last move.
    pub fn open(&mut self) {
        self.outer.push(LinePlace { number: true, ..self.place });
        let half_moves = self.place.half_moves.saturating_sub(1);
        self.place = LinePlace { half_moves, number: true };
        self.word("(".to_owned());
        self.glued = true;
    }

    /// Ends a variation; whether there was one.
    pub fn close(&mut self) -> bool {
        let Some(place) = self.outer.pop() else { return false };
        self.place = place;
        match self.words.last_mut() {
            Some(word) => word.push(')'),
            None => self.word(")".to_owned()),
        }
        self.glued = false;
        true
    }

    /// Whether a variation is open.
    pub fn is_inside(&self) -> bool {
        !self.outer.is_empty()
    }

    /// The name of the next move: `12.` or `12...`.
    pub fn next_number(&self) -> String {
        let dots = if self.place.half_moves.is_multiple_of(2) { "." } else { "..." };
        format!("{}{dots}", self.place.half_moves / 2 + 1)
    }

    fn word(&mut self, word: String) {
        match self.words.last_mut().filter(|_| self.glued) {
            Some(last) => last.push_str(&word),
            None => self.words.push(word),
        }
        self.glued = false;
    }

    /// The lines, with the result at the end.
    pub fn finish(mut self, result: &str) -> String {
        self.word(result.to_owned());
        let mut text = String::new();
        let mut width = 0;
        for word in &self.words {
            let len = word.chars().count();
            if width > 0 {
                let fits = width + 1 + len <= WIDTH;
                text.push(if fits { ' ' } else { '\n' });
                width = if fits { width + 1 } else { 0 };
            }
            text.push_str(word);
            width += len;
        }
        text.push('\n');
        text
    }
}

/// A value in a few words, for the side that is to move: `White mates in 12`, `draw`.
pub fn brief(value: Value, turn: Color) -> String {
    let (winner, plies) = match value {
        Value::Win { plies } => (turn, plies),
        Value::Loss { plies } => (turn.other(), plies),
        Value::Draw => return "draw".to_owned(),
        _ => return "not known".to_owned(),
    };
    let mut text = winner.fold_wb("White", "Black").to_owned();
    let _ = match plies {
        Some(plies) if plies.0 == 0 => write!(text, " has won"),
        Some(plies) => write!(text, " mates in {}", plies.moves()),
        None => write!(text, " wins"),
    };
    text
}

/// How a game ends that has that value: `1-0`.
pub fn result(value: Value, turn: Color) -> &'static str {
    let won = |winner: Color| winner.fold_wb("1-0", "0-1");
    match value {
        Value::Win { .. } => won(turn),
        Value::Loss { .. } => won(turn.other()),
        Value::Draw => "1/2-1/2",
        _ => "*",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_of_a_move_is_followed_by_a_larger_one() {
        let mut text = Movetext::starting(Color::Black, u32::MAX);
        text.play("Kc6");
        text.play("Kc4");
        assert_eq!(text.finish("*"), "4294967295... Kc6 4294967296. Kc4 *\n");
    }

    #[test]
    fn moves_have_numbers_where_they_need_them() {
        let mut text = Movetext::starting(Color::Black, 12);
        text.play("Kd5");
        text.play("e4+");
        text.nag(2);
        text.open();
        text.play("Kf3");
        text.comment("a } brace");
        text.play("Ke5");
        assert!(text.is_inside() && text.close());
        text.play("Kxe4");
        text.play("Kg2");
        assert_eq!(text.next_number(), "14...");
        assert!(!text.close());
        assert_eq!(
            text.finish("0-1"),
            "12... Kd5 13. e4+ $2 (13. Kf3 {a ) brace} 13... Ke5) 13... Kxe4 14. Kg2 0-1\n"
        );
    }

    #[test]
    fn lines_are_not_too_long() {
        let mut text = Movetext::starting(Color::White, 1);
        for _ in 0..60 {
            text.play("Qa1xb2+");
        }
        let text = text.finish("*");
        assert!(text.lines().count() > 5 && text.lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn values_are_put_briefly() {
        let win = Value::Win { plies: Some(hoffman::Plies(23)) };
        assert_eq!(brief(win, Color::Black), "Black mates in 12");
        assert_eq!(brief(win.negate(), Color::Black), "White mates in 12");
        assert_eq!((result(win, Color::Black), result(Value::Unknown, Color::White)), ("0-1", "*"));
        assert_eq!(tag("Event", "a \"b\" \\"), "[Event \"a \\\"b\\\" \\\\\"]\n");
    }
}
