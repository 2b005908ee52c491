//! What the fuzz targets share: a table in memory and the reads that are tried on it, a folder of
//! tables, and a server of them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hoffman::{Options, Target};
use hoffman_board::Color;
use hoffman_serve::{Config, Server, ServerLimits};
use hoffman_table::Table;
use hoffman_table::htb::{BlockCache, GzipSource, SourceOptions};

/// The longest uncompressed stream that is followed.
const LIMIT: u64 = 32 << 20;
/// Entries that are unpacked at once.
const BULK: u64 = 512;

/// Opens bytes as the file of a table, with little memory.
pub fn open(bytes: Vec<u8>) -> Option<Table> {
    let options = SourceOptions {
        cache: BlockCache::new(4 << 20),
        memory_limit: 4 << 20,
        whole_limit: 4 << 20,
        limit: LIMIT,
        ..SourceOptions::default()
    };
    let source = GzipSource::new(Box::new(bytes), options).ok()?;
    Table::from_source(Path::new("fuzz.htb"), source).ok()
}

/// Reads what a probe, a futurebase and a verification read. The numbers read are returned, none
/// where a read failed.
pub fn exercise(table: &mut Table) -> Vec<Option<i32>> {
    let _ = table.check_length();
    let size = table.space().size();
    let indices = [0, 1, 7, 8, size / 3, size / 2, size.wrapping_sub(1), size, u64::MAX];
    let mut read = Vec::new();
    for index in indices {
        let entry = table.entry(index);
        read.push(entry.ok().map(|raw| raw.0));
        for turn in Color::ALL {
            if let Ok(value) = table.value(index, turn) {
                let _ = Table::exact(value);
            }
        }
        if let Some(placement) = table.space().decode(index) {
            let _ = table.index(&placement);
        }
    }
    for first in [0, (size / 2) & !7] {
        let len = size.saturating_sub(first).min(BULK) as usize;
        let mut numbers = vec![0_i32; len];
        let result = table.read_entries(first, &mut numbers);
        read.extend(numbers.into_iter().map(|n| result.is_ok().then_some(n)));
    }
    read
}

/// The checksum of gzip files and checkpoints.
pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| {
        let mixed = crc ^ u32::from(byte);
        (0..8).fold(mixed, |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// A folder with the tables of a few small endings and of one of suicide chess. It is kept, so that
/// the next process finds it filled.
pub static TABLES: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join("hoffman-fuzz");
    std::fs::create_dir_all(&folder).expect("a folder for tables");
    let suicide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/suicide-rook-knight.xml");
    let endings = ["KPvK", "KRvK"].map(|name| name.parse().expect("an ending"));
    let targets = [&endings[..], &[Target::ControlFile(suicide)]].concat();
    hoffman::build(&targets, &Options::new(&folder).blocks(false), &mut |_| {})
        .expect("tables of three men");
    folder
});

/// A server of [`TABLES`], which answers over connections in memory.
pub static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let config = Config {
        folders: vec![TABLES.clone()],
        syzygy: Vec::new(),
        listen: ([127, 0, 0, 1], 0).into(),
        cors: None,
        build: None,
        prove: None,
        limits: ServerLimits { rate: 0, ..ServerLimits::default() },
    };
    Server::bind(config).expect("a server")
});
