//! The `pawngen-condition` of a prune: an expression over the men of a table, in the words of 2006.
//!
//! Of Perl there is what such files need: `grep(/Q/,@white_pieces)` counts the letters that fit,
//! `$#white_pawns` is the number of elements less one, `@white_pawns` and `scalar(@white_pawns)`
//! the number itself, whole numbers, `== != < <= > >=`, `not and or ! && ||` with Perl's ranks, and
//! parentheses. The lists are `@white_pieces` and `@black_pieces`, a letter for the king and for
//! each piece, and `@white_pawns` and `@black_pawns`, the squares of the pawns, of which the files
//! can be asked for: `grep(/b/,@white_pawns)`. A table has one answer to that if all its positions
//! agree.

use hoffman_board::{Bitboard, Color, File, Material, Role};
use hoffman_space::PawnSquares;

/// More expressions inside each other than this are refused.
const MAX_DEPTH: u32 = 50;

/// Why an expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the condition '{text}' {flaw}")]
pub(crate) struct ConditionError {
    text: String,
    flaw: Flaw,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Flaw {
    #[error("ends too early")]
    Ends,
    #[error("cannot be read from '{0}' on")]
    Unexpected(String),
    #[error("has more than {MAX_DEPTH} expressions inside each other")]
    Deep,
    #[error("has a pattern '/{0}/' that fits nothing in its list")]
    Pattern(String),
}

/// An expression that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition(Expression);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Number(i64),
    /// How many of these men there are, and what is added to it.
    Count(Color, Vec<Role>, i64),
    /// How many pawns there are on these files.
    OnFiles(Color, Vec<File>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The men that a list of pieces has: all but pawns.
const PIECES: [Role; 5] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// How many pawns each side has on each file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PawnFiles {
    white: [u8; 8],
    black: [u8; 8],
}

impl PawnFiles {
    /// Those of an arrangement.
    pub(crate) fn of(pawns: PawnSquares) -> PawnFiles {
        let counts = |squares: u64| {
            let mut counts = [0; 8];
            for square in Bitboard(squares) {
                counts[usize::from(square.file())] += 1;
            }
            counts
        };
        PawnFiles { white: counts(pawns.white), black: counts(pawns.black) }
    }

    fn count(&self, color: Color, files: &[File]) -> i64 {
        let counts = color.fold_wb(&self.white, &self.black);
        files.iter().map(|&file| i64::from(counts[usize::from(file)])).sum()
    }
}

impl Condition {
    /// Reads an expression; the error says where it stops making sense.
    pub(crate) fn parse(text: &str) -> Result<Condition, ConditionError> {
        let mut parser = Parser { rest: text, depth: 0 };
        let whole = parser.low_or().and_then(|expression| match parser.rest.trim() {
            "" => Ok(expression),
            _ => Err(parser.unexpected()),
        });
        whole.map(Condition).map_err(|flaw| ConditionError { text: text.to_owned(), flaw })
    }

    /// Whether it holds in a table with these men, whose pawns can be on these files; none: in some
    /// of its positions only.
    pub(crate) fn holds(&self, material: &Material, pawns: &[PawnFiles]) -> Option<bool> {
        let mut answers = pawns.iter().map(|pawns| value(&self.0, material, pawns) != 0);
        let first = answers.next()?;
        answers.all(|answer| answer == first).then_some(first)
    }
}

fn value(expression: &Expression, material: &Material, pawns: &PawnFiles) -> i64 {
    match expression {
        Expression::Number(number) => *number,
        Expression::Count(color, roles, plus) => {
            let side = material.count.get(*color);
            roles.iter().map(|&role| i64::from(*side.get(role))).sum::<i64>() + plus
        }
        Expression::OnFiles(color, files) => pawns.count(*color, files),
        Expression::Not(inner) => i64::from(value(inner, material, pawns) == 0),
        Expression::Binary(operator, left, right) => {
            let (left, right) = (value(left, material, pawns), value(right, material, pawns));
            i64::from(match operator {
                Operator::Or => left != 0 || right != 0,
                Operator::And => left != 0 && right != 0,
                Operator::Equal => left == right,
                Operator::Unequal => left != right,
                Operator::Less => left < right,
                Operator::LessOrEqual => left <= right,
                Operator::Greater => left > right,
                Operator::GreaterOrEqual => left >= right,
            })
        }
    }
}

/// Reads an expression, the weakest operators first.
struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl Parser<'_> {
    fn unexpected(&self) -> Flaw {
        match self.rest.trim() {
            "" => Flaw::Ends,
            rest => Flaw::Unexpected(rest.to_owned()),
        }
    }

    /// Takes a token of signs.
    fn take(&mut self, token: &str) -> bool {
        let found = self.rest.trim_start().strip_prefix(token);
        if let Some(rest) = found {
            self.rest = rest;
        }
        found.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), Flaw> {
        if self.take(token) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Takes a whole word.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        let ends = |rest: &&str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        match rest.filter(ends) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Flaw>) -> Result<T, Flaw> {
        if self.depth == MAX_DEPTH {
            return Err(Flaw::Deep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn low_or(&mut self) -> Result<Expression, Flaw> {
        let mut left = self.low_and()?;
        while self.word("or") {
            left = binary(Operator::Or, left, self.low_and()?);
        }
        Ok(left)
    }

    fn low_and(&mut self) -> Result<Expression, Flaw> {
        let mut left = self.low_not()?;
        while self.word("and") {
            left = binary(Operator::And, left, self.low_not()?);
        }
        Ok(left)
    }

    fn low_not(&mut self) -> Result<Expression, Flaw> {
        if self.word("not") {
            return self.deeper(|p| Ok(Expression::Not(Box::new(p.low_not()?))));
        }
        let mut left = self.high_and()?;
        while self.take("||") {
            left = binary(Operator::Or, left, self.high_and()?);
        }
        Ok(left)
    }

    fn high_and(&mut self) -> Result<Expression, Flaw> {
        let mut left = self.equality()?;
        while self.take("&&") {
            left = binary(Operator::And, left, self.equality()?);
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Expression, Flaw> {
        let left = self.relation()?;
        for (token, operator) in [("==", Operator::Equal), ("!=", Operator::Unequal)] {
            if self.take(token) {
                return Ok(binary(operator, left, self.relation()?));
            }
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Expression, Flaw> {
        let left = self.unary()?;
        for (token, operator) in [
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ] {
            if self.take(token) {
                return Ok(binary(operator, left, self.unary()?));
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, Flaw> {
        if self.take("!") {
            return self.deeper(|p| Ok(Expression::Not(Box::new(p.unary()?))));
        }
        if self.take("(") {
            let inner = self.deeper(Self::low_or)?;
            return self.expect(")").map(|()| inner);
        }
        if self.take("$#") {
            let (color, roles) = self.list()?;
            return Ok(Expression::Count(color, roles, -1));
        }
        if self.word("grep") {
            return self.grep();
        }
        let scalar = self.word("scalar");
        let enclosed = scalar && self.take("(");
        if scalar || self.rest.trim_start().starts_with('@') {
            self.expect("@")?;
            let (color, roles) = self.list()?;
            if enclosed {
                self.expect(")")?;
            }
            return Ok(Expression::Count(color, roles, 0));
        }
        self.number()
    }

    fn number(&mut self) -> Result<Expression, Flaw> {
        let text = self.rest.trim_start();
        let signed = text.strip_prefix('-').unwrap_or(text);
        let digits = signed.len() - signed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let end = text.len() - signed.len() + digits;
        let (number, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let number = number.parse().map_err(|_| self.unexpected())?;
        if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')) {
            return Err(self.unexpected());
        }
        self.rest = rest;
        Ok(Expression::Number(number))
    }

    /// The name of a list behind its sign.
    fn list(&mut self) -> Result<(Color, Vec<Role>), Flaw> {
        for color in Color::ALL {
            for (what, roles) in [("pieces", &PIECES[..]), ("pawns", &[Role::Pawn])] {
                if self.word(&format!("{color}_{what}")) {
                    return Ok((color, roles.to_vec()));
                }
            }
        }
        Err(self.unexpected())
    }

    /// What follows the word `grep`: a pattern of one letter, or of one letter of several, and a
    /// list.
    fn grep(&mut self) -> Result<Expression, Flaw> {
        self.expect("(")?;
        self.expect("/")?;
        let Some((pattern, rest)) = self.rest.split_once('/') else {
            return Err(self.unexpected());
        };
        let letters = pattern.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
        let letters = letters.or(Some(pattern).filter(|p| p.len() == 1)).unwrap_or_default();
        self.rest = rest;
        self.expect(",")?;
        self.expect("@")?;
        let (color, roles) = self.list()?;
        self.expect(")")?;

        let unknown = || Flaw::Pattern(pattern.to_owned());
        if roles == [Role::Pawn] {
            let files = all_of(letters, File::from_char).ok_or_else(unknown)?;
            return Ok(Expression::OnFiles(color, files));
        }
        let piece = |letter| PIECES.into_iter().find(|role| role.upper_char() == letter);
        let roles = all_of(letters, piece).ok_or_else(unknown)?;
        Ok(Expression::Count(color, roles, 0))
    }
}

/// What each letter stands for, once; none if there is no letter or an unknown one.
fn all_of<T: PartialEq>(letters: &str, meaning: impl Fn(char) -> Option<T>) -> Option<Vec<T>> {
    let mut all = Vec::new();
    for letter in letters.chars() {
        let one = meaning(letter)?;
        if !all.contains(&one) {
            all.push(one);
        }
    }
    (!all.is_empty()).then_some(all)
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

#[cfg(test)]
mod tests {
    use hoffman_board::Square;

    use super::*;

    fn holds(text: &str, material: &str) -> bool {
        let anywhere = [PawnFiles::default()];
        Condition::parse(text).unwrap().holds(&material.parse().unwrap(), &anywhere).unwrap()
    }

    #[test]
    fn files_of_pawns_are_asked_for() {
        let at = |white: &[&str], black: &[&str]| {
            let set = |names: &[&str]| {
                names.iter().map(|name| 1 << u32::from(name.parse::<Square>().unwrap())).sum()
            };
            PawnFiles::of(PawnSquares { white: set(white), black: set(black) })
        };
        let (b2_c3, b4_d5) = (at(&["b2", "c3"], &["b6"]), at(&["b4", "d5"], &["c6"]));
        let material = "KPPvKP".parse().unwrap();
        for (text, expected) in [
            ("grep(/b/,@white_pawns)", Some(true)),
            ("grep(/b/,@white_pawns)==1", Some(true)),
            ("grep(/[bb]/,@white_pawns)==1", Some(true)),
            ("grep(/[bcd]/,@white_pawns)==2", Some(true)),
            ("grep(/h/,@white_pawns)", Some(false)),
            ("grep(/c/,@white_pawns)", None),
            ("grep(/c/,@white_pawns) == grep(/b/,@black_pawns)", Some(true)),
            ("grep(/c/,@white_pawns) or @white_pawns==2", Some(true)),
        ] {
            let condition = Condition::parse(text).unwrap();
            assert_eq!(condition.holds(&material, &[b2_c3, b4_d5]), expected, "{text}");
        }
    }

    #[test]
    fn conditions_are_decided_by_the_men() {
        for (text, yes, no) in [
            ("grep(/Q/,@white_pieces)==1", "KQPvKP", "KPPvKP"),
            ("grep(/Q/,@white_pieces)==0 and $#white_pawns==0", "KPvKPP", "KPPvKPP"),
            (" grep( /[QR]/ , @black_pieces ) > 0 ", "KPvKR", "KPvKB"),
            ("$#black_pieces == 0", "KPvKPP", "KPvKNP"),
            ("@white_pawns==1", "KPvKPP", "KPPvKPP"),
            ("scalar(@black_pieces) >= 2 and scalar @white_pawns < 2", "KPvKN", "KPPvKN"),
            ("not $#white_pawns >= 1", "KPvK", "KPPvK"),
            ("$#white_pawns == -1 || !($#black_pawns < 1)", "KQvK", "KPvKP"),
            ("1 or 0 and 0", "KvK", ""),
            ("not 0 == 1", "KvK", ""),
            ("!0 == 1", "KvK", ""),
            ("(grep(/K/,@white_pieces)<=1)&&(2!=3)", "KvK", ""),
        ] {
            assert!(holds(text, yes), "{text} {yes}");
            assert!(no.is_empty() || !holds(text, no), "{text} {no}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let deep = format!("{}1{}", "(".repeat(60), ")".repeat(60));
        let nots = "!".repeat(100_000);
        for text in [
            "",
            "1 +",
            "1 == 1 == 1",
            "system('x')",
            "grep(/Q/,@white_pieces",
            "grep(/Q/,@white)",
            "grep(/Q.*/,@white_pieces)",
            "grep(//,@white_pieces)",
            "grep(/[]/,@white_pieces)",
            "grep(/B/,@white_pawns)",
            "grep(/b2/,@white_pawns)",
            "grep(/2/,@white_pawns)",
            "grep(/b/,@white_pieces)",
            "scalar(@white_pawns",
            "scalar(1)",
            "@white",
            "$#white_pawnsx",
            "99999999999999999999",
            "1.5",
            "-",
            "é",
            "grep(/é/,@white_pieces)",
            "anderson",
            "1 andy",
            &deep,
            &nots,
        ] {
            let error = Condition::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("the condition '"), "{error}");
        }
    }
}
