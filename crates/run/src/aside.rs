//! Values of tables that are put aside: compressed, until what is made next needs them.

use std::sync::Arc;

use hoffman_space::{Codes, EnPassantValues, PawnSquares, SliceValues, TableValues};
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
    /// Whether there are two bytes for each.
    wide: bool,
    /// How many bytes there are.
    len: usize,
    pieces: Vec<Vec<u8>>,
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
        let (wide, bytes) = match codes {
            Codes::Narrow(codes) => (false, codes.as_slice()),
            Codes::Wide(codes) => (true, bytemuck::cast_slice(codes)),
            Codes::Stored(_) => return None,
        };
        let pieces = bytes.par_chunks(PIECE).map(lz4_flex::block::compress).collect();
        Some(CompressedCodes { wide, len: bytes.len(), pieces })
    }

    fn bytes(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    fn restored(self) -> Option<Codes> {
        if self.wide {
            let mut codes = vec![0_u16; self.len / 2];
            self.restore(bytemuck::cast_slice_mut(&mut codes)).then_some(Codes::Wide(codes))
        } else {
            let mut codes = vec![0; self.len];
            self.restore(&mut codes).then_some(Codes::Narrow(codes))
        }
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
    use hoffman_plan::{EndingJob, complete};
    use hoffman_solve::{SolveOptions, Tables, solve_table};

    use super::*;

    /// With rights to take en passant, and of more bytes than a piece has.
    #[test]
    fn values_come_back_as_they_were() {
        let material: Material = "KPvKP".parse().expect("an ending");
        let options = SolveOptions { count: true, keep: true, ..SolveOptions::default() };
        let mut tables = Tables::default();
        for EndingJob { material, part } in complete([material]) {
            let job = EndingJob { material, part };
            let mut values = TableValues::new(material, job.slices());
            solve_table(&mut values, &tables, &options, &|| {}).expect("values");
            tables.insert(material, Arc::new(values));
        }
        let values = &tables[&material];
        let compressed = CompressedValues::of(values).expect("codes in memory");
        assert!(compressed.bytes() * 2 < values.bytes(), "{} bytes", compressed.bytes());
        let restored = compressed.restored().expect("values");
        let mut rights = 0;
        for (key, slice) in &values.slices {
            let [slice, again] =
                [slice, &restored.slices[key]].map(|slice| slice.get().expect("it"));
            let codes = |slice: &SliceValues| {
                let rights = slice.en_passant.iter().map(|right| (right.square, &right.codes));
                let all = slice.codes.iter().map(|codes| (64, codes)).chain(rights);
                all.map(|(square, codes)| (square, format!("{codes:?}"))).collect::<Vec<_>>()
            };
            assert_eq!(codes(slice), codes(again));
            assert_eq!(slice.max_moves, again.max_moves);
            assert_eq!(format!("{:?}", slice.counts), format!("{:?}", again.counts));
            rights += slice.en_passant.len();
        }
        assert!(rights > 5 && restored.bytes() == values.bytes(), "{rights} rights");
    }
}
