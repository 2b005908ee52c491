//! A solved table that can be probed before it is written.
//!
//! The bytes that its file would have, uncompressed, are made when they are asked for. So whoever reads
//! tables need not know that this one is not on disk yet.

use std::io;
use std::path::Path;
use std::sync::Arc;

use hoffman_board::{Color, Format, Placement, Role, Value, Variant};
use hoffman_control::{ControlFile, HeaderEdits, render_header};
use hoffman_space::{Orientation, PawnStructure, TableValues};
use hoffman_table::entries::{EntryCodec, width};
use hoffman_table::htb::{GzipSource, ReadAt, SourceOptions};
use hoffman_table::index::IndexSpace;
use hoffman_table::{Table, TableError};

use crate::error::{RunError, write_error};
use crate::numbering::Numbering;

/// Opens a solved table as if `path` were written.
pub(crate) fn open(
    control: &ControlFile,
    values: &Arc<TableValues>,
    longest: u16,
    path: &Path,
) -> Result<Table, RunError> {
    let place = || control.origin.clone();
    let Numbering { space, symmetry, .. } = Numbering::of(control)?;
    let most = i32::from(longest) + 1;
    let bits =
        width(None, most, -most).map_err(|source| RunError::Entry { place: place(), source })?;
    let format = Format::Dtm(Some(bits));
    let codec = EntryCodec::new(format, bits, Variant::Normal)
        .map_err(|source| RunError::Entry { place: place(), source })?;
    let edits = HeaderEdits { symmetry, format: Some(format), ..HeaderEdits::default() };
    let header = render_header(control, &edits)?.bytes;
    let bytes = Unwritten { header, space, codec, values: values.clone() };
    let source = GzipSource::new(Box::new(bytes), SourceOptions::default())
        .map_err(|e| write_error(path, &e))?;
    Table::from_source(path, source)
        .map_err(|problem| RunError::Table(TableError { path: path.to_owned(), problem }))
}

struct Unwritten {
    header: Vec<u8>,
    space: IndexSpace,
    codec: EntryCodec,
    values: Arc<TableValues>,
}

impl std::fmt::Debug for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Unwritten({})", self.values.material)
    }
}

impl Unwritten {
    /// The number that is stored for an index.
    fn stored(&self, index: u64) -> i32 {
        let value = self.space.decode(index).and_then(|placement| self.value(&placement));
        value.map_or(0, Value::to_stored)
    }

    fn value(&self, placement: &Placement) -> Option<Value> {
        let pieces = self.space.pieces();
        let movers = self.values.layout.movers();
        let men = || pieces.iter().zip(&placement.squares);
        let count = |color: Color| pieces.iter().filter(|p| p.color == color).count();
        // The ending has its stronger side White; the table's header may not.
        let white = self.values.material.count.white.iter().map(|&n| usize::from(n)).sum::<usize>();
        let same = men().all(|(p, _)| *self.values.material.count.get(p.color).get(p.role) > 0)
            && count(Color::White) == white;
        let turned = Orientation { swap: !same, mirror: false };
        let symmetry = turned.symmetry();
        let mut pawns = PawnStructure::default();
        let mut squares = Vec::with_capacity(movers.len());
        for (piece, &square) in men().filter(|(p, _)| p.role == Role::Pawn) {
            *pawns.of_mut(turned.color(piece.color)) |= 1 << symmetry.apply(square) as u8;
        }
        let mut taken = 0_u32;
        for mover in movers {
            let (slot, (_, &square)) = men().enumerate().find(|(slot, (p, _))| {
                taken >> slot & 1 == 0
                    && turned.color(p.color) == mover.color
                    && p.role == mover.role
            })?;
            taken |= 1 << slot;
            squares.push(symmetry.apply(square) as u8);
        }
        let en_passant = placement.en_passant.map(|s| symmetry.apply(s) as u8);
        self.values.value(&squares, pawns, turned.color(placement.turn), en_passant)
    }
}

impl ReadAt for Unwritten {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let header = self.header.len() as u64;
        if let Some(rest) = self.header.get(offset as usize..).filter(|rest| !rest.is_empty()) {
            let len = rest.len().min(buf.len());
            buf[..len].copy_from_slice(&rest[..len]);
            return Ok(len);
        }
        // Eight entries are whole bytes.
        let bits = u64::from(self.codec.bits());
        let group = (offset - header) / bits;
        let first = group * 8;
        if first >= self.space.size() {
            return Ok(0);
        }
        let last = (first + 8).min(self.space.size());
        let numbers: Vec<i32> = (first..last).map(|index| self.stored(index)).collect();
        let mut bytes = Vec::with_capacity(self.codec.bits() as usize);
        self.codec.pack(&numbers, &mut bytes).map_err(io::Error::other)?;
        let rest = &bytes[((offset - header) % bits) as usize..];
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.header.len() as u64 + self.codec.area_bytes(self.space.size()))
    }
}
