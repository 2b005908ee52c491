//! Prints how fast the parts are. Run with `cargo test --release -p hoffman-table --test table --
//! --ignored --nocapture speed`.

use std::hint::black_box;
use std::io::{Cursor, Write};
use std::time::Instant;

use hoffman_board::{Color, Format, ListedPiece, PieceList, Role, Variant};
use hoffman_table::htb::{Compression, GzipSource, GzipWriter, SourceOptions};
use hoffman_table::{EntryCodec, IndexParams, IndexSpace, IndexType};

/// A list of unrestricted men, like men next to each other.
fn pieces(men: &str) -> PieceList {
    let mut list = PieceList::new();
    for c in men.chars() {
        let (color, role) = (Color::from_white(c.is_uppercase()), Role::from_char(c).unwrap());
        let mut piece = ListedPiece::unrestricted(color, role);
        piece.prev = list.iter().rposition(|p: &ListedPiece| (p.color, p.role) == (color, role));
        if let Some(prev) = piece.prev {
            let slot = list.len();
            list[prev].next = Some(slot);
        }
        list.push(piece);
    }
    list
}

#[test]
#[ignore = "slow: prints timings"]
fn indices() {
    for men in ["KkQRb", "KkRPp", "KkPPp", "KkNNb"] {
        for index_type in [IndexType::Simple, IndexType::Compact, IndexType::Combinadic5] {
            let space = IndexSpace::new(IndexParams {
                index_type,
                symmetry: if men.contains('P') { 2 } else { 8 },
                variant: Variant::Normal,
                format_is_flag: false,
                pieces: pieces(men),
                pawn_structures: None,
            })
            .unwrap();
            let step = space.size() / 1_000_000 + 1;
            let indices: Vec<u64> = (0..1_000_000).map(|k| k * step % space.size()).collect();
            let start = Instant::now();
            let placements: Vec<_> = indices.iter().filter_map(|&i| space.decode(i)).collect();
            let decode = start.elapsed().as_nanos() / indices.len() as u128;
            let start = Instant::now();
            let sum: u64 =
                placements.iter().filter_map(|p| space.encode(p)).fold(0, u64::wrapping_add);
            black_box(sum);
            let encode = start.elapsed().as_nanos() / placements.len() as u128;
            println!("{men} {index_type:?}: decode {decode} ns, encode {encode} ns");
        }
    }
}

#[test]
#[ignore = "slow: prints timings"]
fn bytes() {
    let codec = EntryCodec::new(Format::Dtm(None), 6, Variant::Normal).unwrap();
    let mut state = 1_u32;
    let numbers: Vec<i16> = (0..128_000_000_u32)
        .map(|k| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 29 == 0 { (state >> 20) as i16 % 30 } else { (k >> 9 & 15) as i16 }
        })
        .collect();
    let rate = |name: &str, bytes: usize, start: Instant| {
        println!("{name}: {:.0} MB/s", bytes as f64 / 1e6 / start.elapsed().as_secs_f64());
    };
    let mut area = Vec::new();
    let start = Instant::now();
    codec.pack(&numbers, &mut area).unwrap();
    println!("pack: {:.2} ns an entry", start.elapsed().as_secs_f64() * 1e9 / 128e6);
    let mut back = vec![0_i16; numbers.len()];
    let start = Instant::now();
    codec.unpack(&area, &mut back).unwrap();
    println!("unpack: {:.2} ns an entry", start.elapsed().as_secs_f64() * 1e9 / 128e6);
    for compression in [Compression::Fast, Compression::Normal, Compression::Best] {
        let start = Instant::now();
        let mut writer =
            GzipWriter::new(Cursor::new(Vec::new()), area.len() as u64, compression).unwrap();
        writer.write_all(&area).unwrap();
        let file = writer.finish().unwrap().into_inner();
        println!("{compression:?}: {:.3} of the size", file.len() as f64 / area.len() as f64);
        rate("  compress, all threads", area.len(), start);
        let source = GzipSource::new(Box::new(file), SourceOptions::default()).unwrap();
        let start = Instant::now();
        let mut packed = vec![0; area.len()];
        source.read_parallel(0, &mut packed).unwrap();
        rate("  inflate, all threads (packed bytes)", area.len(), start);
        codec.unpack(&packed, &mut back).unwrap();
        assert!(back == numbers);
        let start = Instant::now();
        let mut sum = 0_u64;
        for k in 0..2000_u64 {
            let mut byte = [0];
            source.read_at(k * 7_919_119 % area.len() as u64, &mut byte).unwrap();
            sum += u64::from(byte[0]);
        }
        black_box(sum);
        println!("  random byte: {:.0} us", start.elapsed().as_secs_f64() * 1e6 / 2000.0);
    }
}
