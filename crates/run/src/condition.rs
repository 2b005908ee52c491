//! The `pawngen-condition` of a prune: an expression over the men of a table, in the words of 2006.
//!
//! Of Perl there is what such files need: `grep(/Q/,@white_pieces)` counts the letters that fit,
//! `$#white_pawns` is the number of elements less one, `@white_pawns` and `scalar(@white_pawns)` the number
//! itself, whole numbers, `== != < <= > >=`,
//! `not and or ! && ||` with Perl's ranks, and parentheses. The lists are `@white_pieces` and
//! `@black_pieces`, a letter for the king and for each piece, and `@white_pawns` and `@black_pawns`.
//! What depends on where pawns stand cannot be decided for a whole table and is refused.

use hoffman_board::{Color, Material, Role};

/// More expressions inside each other than this are refused.
const MAX_DEPTH: u32 = 50;

/// An expression that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition(Node);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Number(i64),
    /// How many of these men there are, and what is added to it.
    Count(Color, Vec<Role>, i64),
    Not(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
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

impl Condition {
    /// Reads an expression; the error says where it stops making sense.
    pub(crate) fn parse(text: &str) -> Result<Condition, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let whole = parser.low_or().and_then(|node| match parser.rest.trim() {
            "" => Ok(node),
            _ => Err(parser.unexpected()),
        });
        whole.map(Condition).map_err(|problem| format!("the condition '{text}' {problem}"))
    }

    /// Whether it holds for a table with these men.
    pub(crate) fn holds(&self, material: &Material) -> bool {
        value(&self.0, material) != 0
    }
}

fn value(node: &Node, material: &Material) -> i64 {
    match node {
        Node::Number(number) => *number,
        Node::Count(color, roles, plus) => {
            let side = material.count.get(*color);
            roles.iter().map(|&role| i64::from(*side.get(role))).sum::<i64>() + plus
        }
        Node::Not(inner) => i64::from(value(inner, material) == 0),
        Node::Binary(operator, left, right) => {
            let (left, right) = (value(left, material), value(right, material));
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
    fn unexpected(&self) -> String {
        match self.rest.trim() {
            "" => "ends too early".to_owned(),
            rest => format!("cannot be read from '{rest}' on"),
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

    fn expect(&mut self, token: &str) -> Result<(), String> {
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

    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("has more than {MAX_DEPTH} expressions inside each other"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn low_or(&mut self) -> Result<Node, String> {
        let mut left = self.low_and()?;
        while self.word("or") {
            left = binary(Operator::Or, left, self.low_and()?);
        }
        Ok(left)
    }

    fn low_and(&mut self) -> Result<Node, String> {
        let mut left = self.low_not()?;
        while self.word("and") {
            left = binary(Operator::And, left, self.low_not()?);
        }
        Ok(left)
    }

    fn low_not(&mut self) -> Result<Node, String> {
        if self.word("not") {
            return self.deeper(|p| Ok(Node::Not(Box::new(p.low_not()?))));
        }
        let mut left = self.high_and()?;
        while self.take("||") {
            left = binary(Operator::Or, left, self.high_and()?);
        }
        Ok(left)
    }

    fn high_and(&mut self) -> Result<Node, String> {
        let mut left = self.equality()?;
        while self.take("&&") {
            left = binary(Operator::And, left, self.equality()?);
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Node, String> {
        let left = self.relation()?;
        for (token, operator) in [("==", Operator::Equal), ("!=", Operator::Unequal)] {
            if self.take(token) {
                return Ok(binary(operator, left, self.relation()?));
            }
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Node, String> {
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

    fn unary(&mut self) -> Result<Node, String> {
        if self.take("!") {
            return self.deeper(|p| Ok(Node::Not(Box::new(p.unary()?))));
        }
        if self.take("(") {
            let inner = self.deeper(Self::low_or)?;
            return self.expect(")").map(|()| inner);
        }
        if self.take("$#") {
            let (color, roles) = self.list()?;
            return Ok(Node::Count(color, roles, -1));
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
            return Ok(Node::Count(color, roles, 0));
        }
        self.number()
    }

    fn number(&mut self) -> Result<Node, String> {
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
        Ok(Node::Number(number))
    }

    /// The name of a list behind its sign.
    fn list(&mut self) -> Result<(Color, Vec<Role>), String> {
        for color in Color::ALL {
            for (what, roles) in [("pieces", &PIECES[..]), ("pawns", &[Role::Pawn])] {
                if self.word(&format!("{color}_{what}")) {
                    return Ok((color, roles.to_vec()));
                }
            }
        }
        Err(self.unexpected())
    }

    /// What follows the word `grep`: a pattern of one letter, or of one letter of several, and a list.
    fn grep(&mut self) -> Result<Node, String> {
        self.expect("(")?;
        self.expect("/")?;
        let Some((pattern, rest)) = self.rest.split_once('/') else {
            return Err(self.unexpected());
        };
        let letters = pattern.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
        let letters = letters.or(Some(pattern).filter(|p| p.len() == 1)).unwrap_or_default();
        let wanted: Option<Vec<Role>> = letters
            .chars()
            .map(|letter| PIECES.into_iter().find(|role| role.upper_char() == letter))
            .collect();
        let wanted = wanted.filter(|wanted| !wanted.is_empty()).ok_or_else(|| self.unexpected())?;
        self.rest = rest;
        self.expect(",")?;
        self.expect("@")?;
        let (color, mut roles) = self.list()?;
        if roles.contains(&Role::Pawn) {
            return Err("asks for the squares of pawns, which differ inside a table".to_owned());
        }
        self.expect(")")?;
        roles.retain(|role| wanted.contains(role));
        Ok(Node::Count(color, roles, 0))
    }
}

fn binary(operator: Operator, left: Node, right: Node) -> Node {
    Node::Binary(operator, Box::new(left), Box::new(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, material: &str) -> bool {
        Condition::parse(text).unwrap().holds(&material.parse().unwrap())
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
            "grep(/b/,@white_pawns)",
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
            let error = Condition::parse(text).unwrap_err();
            assert!(error.starts_with("the condition '"), "{error}");
        }
    }
}
