//! Tables of entries by index.

use hoffman_hbf::{
    Claims, Crew, EncodeError, EntryTable, HbfFile, Metric, Mode, TableInfo, Texts, WorkerThreads,
    encode_entries,
};

fn table(entries: u64, bits: u8) -> EntryTable<'static> {
    EntryTable {
        info: TableInfo {
            mode: Mode::Generic { entries, bits },
            suicide: true,
            metric: Metric::Conversion,
            claims: Claims::new([true, false], [false, false]),
            longest_wins: [None; 2],
            longest_losses: [None; 2],
        },
        texts: Texts { info: None, control: Some("<tablebase/>"), pawns: Some(&[1, 2, 3]) },
        log: 8,
    }
}

#[test]
fn entries_and_texts_come_back() {
    for (count, bits) in [(0_u64, 7_u8), (1, 1), (20_001, 9), (256 * 64 * 2, 16), (5000, 2)] {
        let entry = |index: u64| (index.wrapping_mul(index / 7) >> 3 & ((1 << bits) - 1)) as u16;
        let read = |first: u64, buffer: &mut [u16]| -> Result<(), EncodeError> {
            buffer.iter_mut().zip(first..).for_each(|(to, index)| *to = entry(index));
            Ok(())
        };
        let table = table(count, bits);
        let crew = Crew { workers: &WorkerThreads(2), ..Crew::ALONE };
        let bytes = encode_entries(&table, read, crew).expect("a file");
        let file = HbfFile::open(Box::new(bytes)).expect("a file");
        file.check().expect("an intact file");
        assert_eq!(*file.info(), table.info);
        assert_eq!(file.control().expect("a text").as_deref(), Some("<tablebase/>"));
        assert_eq!(file.pawn_table().expect("bytes"), Some(vec![1, 2, 3]));
        assert_eq!(file.description().expect("no damage"), None);
        let size = file.tile_entries().expect("a table of entries");
        for first in (0..count).step_by(size as usize) {
            let found = file.entry_tile(first).expect("a tile");
            let expected: Vec<u16> = (first..count.min(first + size)).map(entry).collect();
            assert_eq!(found, expected);
        }
        assert!(file.entry_tile(1).is_err() && file.entry_tile(1 << 40).is_err());
    }
}

#[test]
fn entries_that_do_not_fit_are_refused() {
    let read = |_: u64, buffer: &mut [u16]| -> Result<(), EncodeError> {
        buffer.fill(4);
        Ok(())
    };
    assert!(encode_entries(&table(1000, 2), read, Crew::ALONE).is_err());
    assert!(encode_entries(&table(1000, 17), read, Crew::ALONE).is_err());
}
