//! What each element inside the root says.

use hoffman_board::value::FlagType;
use hoffman_board::{Bitboard, Color, Format, Role, Variant};

use roxmltree::Node;

use super::{DocumentReader, Element};
use crate::error::ControlError;
use crate::limits::MOST_PATTERN;
use crate::location::{parse_location, parse_pawn_squares};
use crate::model::{
    FormatDeclaration, FuturebaseElement, FuturebaseKind, IndexDeclaration, IndexType,
    OutputElement, PawngenElement, PawngenSide, PieceElement, PropTables, PruneEnable, Strictness,
};
use crate::number::{leading_i64, leading_number, leading_u64};
use crate::prune::{Prune, PruneEffect, PrunePattern};

const COLORS: [(&str, Color); 2] = [("white", Color::White), ("black", Color::Black)];
const EFFECTS: [(&str, PruneEffect); 2] =
    [("concede", PruneEffect::Concede), ("discard", PruneEffect::Discard)];
const VARIANTS: [(&str, Variant); 2] = [("normal", Variant::Normal), ("suicide", Variant::Suicide)];
const FLAGS: [(&str, FlagType); 2] =
    [("white-wins", FlagType::WhiteWins), ("white-draws", FlagType::WhiteDraws)];
const ROLES: [(&str, Role); 6] = [
    ("king", Role::King),
    ("queen", Role::Queen),
    ("rook", Role::Rook),
    ("bishop", Role::Bishop),
    ("knight", Role::Knight),
    ("pawn", Role::Pawn),
];
const FUTUREBASE_KINDS: [(&str, FuturebaseKind); 5] = [
    ("normal", FuturebaseKind::Normal),
    ("capture", FuturebaseKind::Capture),
    ("promotion", FuturebaseKind::Promotion),
    ("capture-promotion", FuturebaseKind::CapturePromotion),
    ("promotion-capture", FuturebaseKind::CapturePromotion),
];
const SYMMETRIES: [(&str, u8); 6] =
    [("1", 1), ("2", 2), ("2-way", 2), ("4", 4), ("8", 8), ("8-way", 8)];

/// What old files have inside `generation-controls`, for programs of their time.
const OF_OLD_PROGRAMS: [&str; 5] =
    ["entries-format", "proptable-format", "url-prefix", "completion-report", "error-report"];

impl<'a> DocumentReader<'a> {
    pub(super) fn read_child(
        &mut self,
        root: Element<'a>,
        node: Element<'a>,
    ) -> Result<(), ControlError> {
        if node.tag_name().namespace().is_some() {
            return self.unknown(root, node);
        }
        match node.tag_name().name() {
            "prune-enable" | "move-restriction" => self.read_prune_enable(node),
            "variant" => self.read_variant(node),
            "index" => self.read_index(node),
            "format" => self.read_format_wrapper(node),
            "dtm" | "dtc" | "basic" | "flag" => self.read_format(node),
            "piece" => self.read_piece(node),
            "pawngen" => self.read_pawngen(node),
            "futurebase" => self.read_futurebase(node),
            "prune" => self.read_prune(node),
            "output" => self.read_output(node),
            "enable-proptables" => self.read_proptables(node),
            "generation-controls" => self.read_generation_controls(node),
            "tablebase-statistics" => {
                self.read_tablebase_statistics(node);
                Ok(())
            }
            "generation-statistics" => {
                self.read_generation_statistics(node);
                Ok(())
            }
            "entries-format" => {
                self.note_old(node);
                Ok(())
            }
            _ => self.unknown(root, node),
        }
    }

    fn note_old(&mut self, node: Element<'a>) {
        self.note(node, "this element of old files means nothing any more and is ignored");
    }

    fn unknown(&mut self, parent: Element<'a>, node: Element<'a>) -> Result<(), ControlError> {
        let site = self.site(node);
        let parent = parent.tag_name().name().into();
        self.refuse_or_note(&site.clone(), ControlError::UnknownElement { site, parent })
    }

    pub(super) fn no_longer(
        &self,
        node: Element<'a>,
        what: &str,
        remedy: &'static str,
    ) -> ControlError {
        ControlError::NoLongerSupported { site: self.site(node), what: what.into(), remedy }
    }

    fn read_prune_enable(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["color", "type"])?;
        let color = self.choose_required(node, "color", &COLORS)?;
        let effect = self.choose_required(node, "type", &EFFECTS)?;
        self.file.prune_enables.push(PruneEnable { color, effect, place: self.place(node) });
        Ok(())
    }

    fn read_variant(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["name"])?;
        self.expect_first(node, "variant")?;
        self.file.variant = self.choose_required(node, "name", &VARIANTS)?;
        Ok(())
    }

    pub(super) fn index_type(
        &self,
        node: Element<'a>,
        attribute: &'static str,
        written: &str,
    ) -> Result<IndexType, ControlError> {
        match written {
            "pawngen" => Ok(IndexType::Combinadic4),
            "combinadic" | "combinadic2" | "no-en-passant" | "standard" => {
                let what = format!("index type '{written}'");
                Err(self.no_longer(node, &what, "use 'combinadic5' instead"))
            }
            _ => self.choose(node, attribute, written, &IndexType::ALL.map(|t| (t.name(), t))),
        }
    }

    /// The symmetry attribute. Headers are read as the original reads them, by the leading number.
    pub(super) fn read_symmetry(&self, node: Element<'a>) -> Result<Option<u8>, ControlError> {
        let Some(text) = node.attribute("symmetry") else { return Ok(None) };
        let leading = match (self.file.mode, leading_number(text)) {
            (Strictness::Header, Some(number)) => number.to_string(),
            (Strictness::Header, None) => return Ok(None),
            (Strictness::Control, _) => text.to_owned(),
        };
        self.choose(node, "symmetry", &leading, &SYMMETRIES).map(Some)
    }

    fn read_index(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["type", "symmetry"])?;
        let written = self.required(node, "type")?;
        let index = IndexDeclaration {
            index_type: self.index_type(node, "type", written)?,
            written: written.to_owned(),
            symmetry: self.read_symmetry(node)?,
            on_root: false,
            place: self.place(node),
        };
        let same = self
            .file
            .index
            .as_ref()
            .is_some_and(|on_root| on_root.on_root && on_root.index_type == index.index_type);
        if same {
            self.note(node, "the root element names the index type, too");
        } else {
            self.expect_first(node, "index")?;
        }
        self.file.index = Some(index);
        Ok(())
    }

    fn read_format_wrapper(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_attributes(node, &[])?;
        let children = self.children(node)?;
        let [child] = children.as_slice() else {
            return Err(ControlError::FormatWrapper {
                site: self.site(node),
                found: children.len(),
            });
        };
        match child.tag_name().name() {
            "dtm" | "dtc" | "basic" | "flag" => self.read_format(*child),
            _ => Err(ControlError::FormatWrapper { site: self.site(node), found: 0 }),
        }
    }

    fn read_format(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        let format = match node.tag_name().name() {
            "dtm" => {
                self.expect_empty(node, &["bits"])?;
                Format::Dtm(self.read_bits(node)?)
            }
            "dtc" => {
                self.expect_empty(node, &["bits"])?;
                Format::Dtc(self.read_bits(node)?)
            }
            "basic" => {
                self.expect_empty(node, &["bits"])?;
                self.expect_fixed_bits(node, "2")?;
                Format::Basic
            }
            _ => {
                self.expect_empty(node, &["type", "bits"])?;
                self.expect_fixed_bits(node, "1")?;
                Format::Flag(self.choose_required(node, "type", &FLAGS)?)
            }
        };

        let on_root = self.file.format.as_ref().filter(|on_root| on_root.on_root);
        let same = on_root.is_some_and(|on_root| match (on_root.format, format) {
            (Format::Dtm(_), Format::Dtm(None)) => true,
            (on_root, own) => on_root == own,
        });
        if same {
            self.note(node, "the root element names the format, too");
        } else {
            self.expect_first(node, "format")?;
        }

        let format = if same { Format::Dtm(Some(8)) } else { format };
        let place = self.place(node);
        self.file.format = Some(FormatDeclaration { format, on_root: false, place });
        Ok(())
    }

    /// The width of a distance field: a whole number from 1 to 16.
    fn read_bits(&self, node: Element<'a>) -> Result<Option<u8>, ControlError> {
        let Some(text) = node.attribute("bits") else { return Ok(None) };
        leading_number(text)
            .and_then(|bits| u8::try_from(bits).ok())
            .filter(|bits| (1..=16).contains(bits))
            .map(Some)
            .ok_or_else(|| self.bad_value(node, "bits", text, "whole numbers from 1 to 16"))
    }

    fn expect_fixed_bits(&self, node: Element<'a>, only: &str) -> Result<(), ControlError> {
        match node.attribute("bits") {
            Some(text) if leading_number(text) != leading_number(only) => {
                Err(self.bad_value(node, "bits", text, only))
            }
            _ => Ok(()),
        }
    }

    fn read_piece(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["color", "type", "location", "index-ordering"])?;
        if node.attribute("index-ordering").is_some() {
            let site = self.site(node);
            let remedy = "remove the attribute";
            let error = self.no_longer(node, "index-ordering", remedy);
            self.refuse_or_note(&site, error)?;
        }
        let color = self.choose_required(node, "color", &COLORS)?;
        let role = self.choose_required(node, "type", &ROLES)?;
        let (squares, plus) = match node.attribute("location") {
            None | Some("") => (None, None),
            Some(text) => {
                let location = parse_location(text, role, || self.site(node))?;
                (Some(location.squares), location.plus)
            }
        };
        self.file.pieces.push(PieceElement { color, role, squares, plus, place: self.place(node) });
        Ok(())
    }

    fn read_pawngen(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        let known = [
            "white-pawn-locations",
            "black-pawn-locations",
            "white-pawns-required",
            "black-pawns-required",
            "white-queens-required",
            "black-queens-required",
            "white-captures-allowed",
            "black-captures-allowed",
            "start",
            "count",
            "offset",
            "legal-white-squares",
            "legal-black-squares",
        ];
        self.expect_empty(node, &known)?;
        self.expect_first(node, "pawn structures")?;
        let [white_start, black_start, white_pawns, black_pawns, white_queens, black_queens, ..] =
            known;
        let [.., white_captures, black_captures, start, count, offset, white_legal, black_legal] =
            known;
        let white = self.read_pawngen_side(
            node,
            [white_start, white_pawns, white_queens, white_captures, white_legal],
        )?;

        let black = self.read_pawngen_side(
            node,
            [black_start, black_pawns, black_queens, black_captures, black_legal],
        )?;
        let offset = match self.file.mode {
            Strictness::Header => self.number(node, offset)?,
            Strictness::Control => 0,
        };
        self.file.pawngen = Some(PawngenElement {
            white,
            black,
            start: self.number(node, start)?,
            count: self.number(node, count)?,
            offset,
            position: self.file.pieces.len(),
            place: self.place(node),
        });
        Ok(())
    }

    /// One colour of a pawngen element: attributes for start, pawns, queens, captures, legal
    /// squares.
    fn read_pawngen_side(
        &self,
        node: Element<'a>,
        [start, pawns, queens, captures, legal]: [&'static str; 5],
    ) -> Result<PawngenSide, ControlError> {
        let squares = parse_pawn_squares(self.required(node, start)?, || self.site(node))?;
        let pawns_required = match node.attribute(pawns) {
            Some(_) => Some(self.number(node, pawns)?),
            None => None,
        };
        let legal = match self.file.mode {
            Strictness::Header => node.attribute(legal).map(|text| Bitboard(leading_u64(text))),
            Strictness::Control => None,
        };
        Ok(PawngenSide {
            start: squares,
            pawns_required,
            queens_required: self.number(node, queens)?,
            captures_allowed: self.number(node, captures)?,
            legal,
        })
    }

    fn read_futurebase(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["filename", "url", "type", "colors"])?;
        let url = node.attribute("url");
        let plain = url.filter(|url| !is_address(url)).unwrap_or_default();
        let filename = node.attribute("filename").filter(|name| !name.is_empty()).unwrap_or(plain);
        if self.is_control() {
            if filename.is_empty() {
                return Err(ControlError::NoFileName(self.site(node)));
            }
            if url.is_some_and(|url| url != filename) {
                self.note(node, "url is not supported; the file name is used");
            }
        }
        let kind = match node.attribute("type") {
            Some(kind) => Some(self.choose(node, "type", kind, &FUTUREBASE_KINDS)?),
            None => None,
        };
        let inverted = match node.attribute("colors") {
            Some(colors) => self.choose(node, "colors", colors, &[("invert", true)])?,
            None => false,
        };
        self.file.futurebases.push(FuturebaseElement {
            filename: filename.to_owned(),
            url: node.attribute("url").map(str::to_owned),
            kind,
            inverted,
            place: self.place(node),
        });
        Ok(())
    }

    fn read_prune(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["color", "move", "type", "pawngen-condition"])?;
        let condition = node.attribute("pawngen-condition");
        if condition.is_some() && !self.conditions {
            let site = self.site(node);
            self.refuse_or_note(&site.clone(), ControlError::ConditionNotExpanded(site))?;
        }
        let pattern = self.required(node, "move")?;
        if self.is_control() && pattern.len() > MOST_PATTERN {
            return Err(ControlError::LongPattern(self.site(node)));
        }
        let prune = Prune {
            color: self.choose_required(node, "color", &COLORS)?,
            pattern: PrunePattern::new(pattern),
            effect: self.choose_required(node, "type", &EFFECTS)?,
            condition: condition.map(str::to_owned),
            place: self.place(node),
        };
        if self.is_control() && prune.is_stalemate() && prune.effect != PruneEffect::Concede {
            return Err(ControlError::StalemateDiscarded(self.site(node)));
        }
        self.file.prunes.push(prune);
        Ok(())
    }

    fn read_output(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["filename", "url"])?;
        if self.is_control() {
            self.expect_first(node, "output")?;
        }
        let name = node.attribute("filename").or(node.attribute("url"));
        let place = self.place(node);
        self.file.output.get_or_insert(OutputElement { filename: name.map(str::to_owned), place });
        Ok(())
    }

    fn read_proptables(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_empty(node, &["MB"])?;
        if self.is_control() {
            self.expect_first(node, "proptables")?;
            self.required(node, "MB")?;
        }
        let megabytes = self.number(node, "MB")?;
        self.file.proptables = Some(PropTables { megabytes, place: self.place(node) });
        Ok(())
    }

    fn read_generation_controls(&mut self, node: Element<'a>) -> Result<(), ControlError> {
        self.expect_attributes(node, &[])?;
        for child in self.children(node)? {
            match child.tag_name().name() {
                "output" => self.read_output(child)?,
                "enable-proptables" => self.read_proptables(child)?,
                name if OF_OLD_PROGRAMS.contains(&name) => self.note_old(child),
                _ => self.unknown(node, child)?,
            }
        }
        Ok(())
    }

    fn read_tablebase_statistics(&mut self, node: Element<'a>) {
        if self.is_control() {
            self.note(node, "statistics are written by the program and ignored here");
            return;
        }
        for child in node.children().filter(Node::is_element) {
            let value = leading_i64(child.text().unwrap_or_default());
            self.file.statistics.insert(child.tag_name().name().to_owned(), value);
        }
    }

    fn read_generation_statistics(&mut self, node: Element<'a>) {
        if self.is_control() {
            self.note(node, "statistics are written by the program and ignored here");
            return;
        }
        for child in node.children().filter(|c| c.is_element() && !c.has_tag_name("pass")) {
            let text = child.text().unwrap_or_default().to_owned();
            self.file.generation.insert(child.tag_name().name().to_owned(), text);
        }
    }
}

/// Whether the value of a `url` attribute is no name of a file.
fn is_address(url: &str) -> bool {
    ["http:", "ftp:"].iter().any(|scheme| url.starts_with(scheme))
}
