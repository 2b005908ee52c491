//! Values of tables that are put aside: compressed, until what is made next needs them.

use std::sync::Arc;

use hoffman_space::{
    Codes, EdgeCodes, EdgeShape, EnPassantValues, PackedCodes, PawnSquares, SliceValues,
    TableValues,
};
use rayon::prelude::*;

/// How many bytes are compressed at a time, each piece by any thread.
const PIECE: usize = 1 << 20;

/// Values of a table, compressed. They take a fraction of the memory, and are there again in a
/// fraction of the time that reading them from a file takes.
pub(crate) struct CompressedValues {
    /// The same with no slice.
    empty: TableValues,
    slices: Vec<(PawnSquares, CompressedSlice)>,
}

struct CompressedSlice {
    codes: [CompressedCodes; 2],
    en_passant: Vec<(u8, CompressedCodes)>,
    /// The same with no codes.
    empty: SliceValues,
}

struct CompressedCodes {
    kind: CodesKind,
    /// How many bytes there are.
    len: usize,
    pieces: Vec<Vec<u8>>,
}

/// What the bytes of codes are.
enum CodesKind {
    Narrow,
    /// Two bytes for each.
    Wide,
    /// Those of some positions.
    Edge(EdgeShape),
}

impl CompressedValues {
    /// None if some of them are packed in another way or not in memory.
    pub(crate) fn of(values: &TableValues) -> Option<CompressedValues> {
        let TableValues { material, ref layout, form, ref slices } = *values;
        let keys = slices.keys().copied();
        let empty = TableValues::with_layout(material, layout.clone(), form, keys);
        let known = slices.iter().filter_map(|(key, slice)| Some((*key, slice.get()?)));
        let slices = known.map(|(key, slice)| Some((key, CompressedSlice::of(slice)?)));
        Some(CompressedValues { empty, slices: slices.collect::<Option<_>>()? })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slices.iter().map(|(_, slice)| slice.bytes()).sum()
    }

    /// The values. None if they cannot be restored, which does not happen.
    pub(crate) fn restored(self) -> Option<TableValues> {
        let CompressedValues { empty, slices } = self;
        for (key, slice) in slices {
            empty.slices.get(&key)?.set(Arc::new(slice.restored()?)).ok()?;
        }
        Some(empty)
    }
}

impl CompressedSlice {
    fn of(slice: &SliceValues) -> Option<CompressedSlice> {
        let SliceValues { codes: [white, black], en_passant, counts, max_moves } = slice;
        let rights = en_passant.iter();
        let rights = rights.map(|right| Some((right.square, CompressedCodes::of(&right.codes)?)));
        let none = || Codes::Narrow(Vec::new());
        Some(CompressedSlice {
            codes: [CompressedCodes::of(white)?, CompressedCodes::of(black)?],
            en_passant: rights.collect::<Option<_>>()?,
            empty: SliceValues {
                codes: [none(), none()],
                en_passant: Vec::new(),
                counts: counts.clone(),
                max_moves: *max_moves,
            },
        })
    }

    fn bytes(&self) -> usize {
        let rights = self.en_passant.iter().map(|(_, codes)| codes);
        self.codes.iter().chain(rights).map(CompressedCodes::bytes).sum()
    }

    fn restored(self) -> Option<SliceValues> {
        let [white, black] = self.codes;
        let right = |(square, codes): (u8, CompressedCodes)| {
            Some(EnPassantValues { square, codes: codes.restored()? })
        };
        Some(SliceValues {
            codes: [white.restored()?, black.restored()?],
            en_passant: self.en_passant.into_iter().map(right).collect::<Option<_>>()?,
            ..self.empty
        })
    }
}

impl CompressedCodes {
    fn of(codes: &Codes) -> Option<CompressedCodes> {
        let (kind, bytes) = match codes {
            Codes::Narrow(codes) => (CodesKind::Narrow, codes.as_slice()),
            Codes::Wide(codes) => (CodesKind::Wide, bytemuck::cast_slice(codes)),
            Codes::Stored(_) => match codes.as_packed()? {
                PackedCodes::Edge(edge) => (CodesKind::Edge(edge.shape().clone()), edge.codes()),
                PackedCodes::Outcomes(_) | PackedCodes::Few(_) => return None,
            },
        };
        let pieces = bytes.par_chunks(PIECE).map(lz4_flex::block::compress).collect();
        Some(CompressedCodes { kind, len: bytes.len(), pieces })
    }

    fn bytes(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    fn restored(self) -> Option<Codes> {
        if let CodesKind::Wide = self.kind {
            let mut codes = vec![0_u16; self.len / 2];
            return self
                .restore(bytemuck::cast_slice_mut(&mut codes))
                .then_some(Codes::Wide(codes));
        }
        let mut codes = vec![0; self.len];
        let is_restored = self.restore(&mut codes);
        let codes = match self.kind {
            CodesKind::Edge(shape) => EdgeCodes::with_codes(shape, codes).into_codes(),
            CodesKind::Narrow | CodesKind::Wide => Codes::Narrow(codes),
        };
        is_restored.then_some(codes)
    }

    /// Whether all bytes could be restored.
    fn restore(&self, bytes: &mut [u8]) -> bool {
        bytes.par_chunks_mut(PIECE).zip(&self.pieces).all(|(bytes, piece)| {
            lz4_flex::block::decompress_into(piece, bytes).is_ok_and(|got| got == bytes.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::Material;
    use hoffman_plan::complete;
    use hoffman_solve::{SolveOptions, Tables, solve_table};
    use hoffman_space::{Mover, side};
    use hoffman_table::rows::Wanted;

    use super::*;

    /// The edge of the board.
    const EDGE: u64 = 0xff81_8181_8181_81ff;

    /// The tables of an ending and of those behind it.
    fn solved(material: Material) -> Tables {
        let options = SolveOptions { count: true, keep: true, ..SolveOptions::default() };
        let mut tables = Tables::default();
        for job in complete([material]) {
            let mut values = TableValues::new(job.material, job.slices());
            solve_table(&mut values, &tables, &options, &|| {}).expect("values");
            tables.insert(job.material, Arc::new(values));
        }
        tables
    }

    /// The codes of a slice, and of the squares of its rights to take en passant.
    fn codes(slice: &SliceValues) -> Vec<(u8, Vec<u8>)> {
        let rights = slice.en_passant.iter().map(|right| (right.square, &right.codes));
        let all = slice.codes.iter().map(|codes| (64, codes)).chain(rights);
        let read = |codes: &Codes| {
            let mut read = vec![0; codes.len()];
            codes.read(0, &mut read);
            read
        };
        all.map(|(square, codes)| (square, read(codes))).collect()
    }

    fn slice_of(values: &TableValues, key: PawnSquares) -> &SliceValues {
        values.slices[&key].get().expect("values")
    }

    /// With rights to take en passant, and of more bytes than a piece has.
    #[test]
    fn values_come_back_as_they_were() {
        let material: Material = "KPvKP".parse().expect("an ending");
        let values = solved(material).remove(&material).expect("values");
        let compressed = CompressedValues::of(&values).expect("codes in memory");
        assert!(compressed.bytes() * 2 < values.bytes(), "{} bytes", compressed.bytes());
        let restored = compressed.restored().expect("values");
        let mut rights = 0;
        for &key in values.slices.keys() {
            let [slice, again] = [&values, &restored].map(|values| slice_of(values, key));
            assert_eq!(codes(slice), codes(again));
            assert_eq!(slice.max_moves, again.max_moves);
            assert_eq!(format!("{:?}", slice.counts), format!("{:?}", again.counts));
            rights += slice.en_passant.len();
        }
        assert!(rights > 5 && restored.bytes() == values.bytes(), "{rights} rights");
    }

    /// Of an ending what another one wants: all positions with a promoted man on the last rank and
    /// a side to move, all others being illegal; and the same put aside.
    #[test]
    fn what_is_kept_in_part_is_what_is_wanted() {
        let mut kinds = [0; 2];
        for name in ["KPvKP", "KRvKP"] {
            let material: Material = name.parse().expect("an ending");
            let tables = solved(material);
            for (behind, wanted) in Wanted::behind(&material, [true; 2]) {
                let all = &tables[&behind];
                let (layout, form, keys) = (&all.layout, all.form, all.slices.keys().copied());
                let copy = TableValues::with_layout(behind, layout.clone(), form, keys);
                for (key, slice) in &all.slices {
                    let slice = slice.get().expect("values");
                    copy.slices[key].set(Arc::clone(slice)).expect("no values");
                }
                let part = wanted.part_of(copy);
                let (some, of) = wanted.share(&behind);
                let pawns = all.slices.len() as u64;
                assert_eq!(part.bytes() as u64, some * pawns, "{name} {behind}, {of}");

                let edge = if behind.has_pawns() { [0xff << 56, 0xff] } else { [EDGE; 2] };
                let is_wanted = |turn: usize, at: usize| {
                    let stands = |(m, mover): (usize, &Mover)| {
                        wanted.on_edge.contains(&(mover.color, mover.role))
                            && side(mover.color) != turn
                            && edge[side(mover.color)] >> layout.square(m, at) & 1 != 0
                    };
                    wanted.on_edge.is_empty() || layout.movers().iter().enumerate().any(stands)
                };
                for &key in all.slices.keys() {
                    for turn in (0..2).filter(|&turn| wanted.sides[turn]) {
                        let [all, part] =
                            [all, &part].map(|v| codes(slice_of(v, key)).swap_remove(turn).1);
                        let expected = all.iter().enumerate();
                        let expected =
                            expected.map(|(at, &c)| if is_wanted(turn, at) { c } else { 0 });
                        assert!(expected.eq(part.iter().copied()), "{name} {behind} {key:?}");
                    }
                }
                kinds[usize::from(!wanted.on_edge.is_empty())] += 1;

                let aside = CompressedValues::of(&part).expect("codes in memory");
                let restored = aside.restored().expect("values");
                for &key in all.slices.keys() {
                    assert_eq!(codes(slice_of(&restored, key)), codes(slice_of(&part, key)));
                }
            }
        }
        assert!(kinds[0] >= 2 && kinds[1] >= 8, "{kinds:?}");
    }
}
