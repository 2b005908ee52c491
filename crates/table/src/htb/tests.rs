use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use flate2::write::GzEncoder;
use hoffman_board::{Format, Variant};
use proptest::prelude::*;

use super::block_index::MIN_STRIDE_LOG2;
use super::*;
use crate::entries::EntryCodec;

/// Bytes that deflate neither badly nor too well.
fn data(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 30 == 0 { (state >> 20) as u8 } else { 7 }
        })
        .collect()
}

fn ours(data: &[u8]) -> Vec<u8> {
    let mut writer =
        GzipWriter::new(Cursor::new(Vec::new()), data.len() as u64, Compression::Normal).unwrap();
    for chunk in data.chunks(100_003) {
        writer.write_all(chunk).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn foreign(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn source(bytes: Vec<u8>, memory_limit: u64) -> GzipSource {
    let options = SourceOptions {
        memory_limit,
        cache: BlockCache::new(3 << 20),
        limit: u64::MAX,
        ..SourceOptions::default()
    };
    GzipSource::new(Box::new(bytes), options).unwrap()
}

fn check_reads(source: &GzipSource, data: &[u8]) {
    assert_eq!(source.uncompressed_len().unwrap(), data.len() as u64);
    for k in 0..40 {
        let at = (k * 7_919_111 + 13) % data.len();
        let mut buf = vec![0; (k * 50_021 + 1).min(data.len() - at)];
        source.read_at(at as u64, &mut buf).unwrap();
        assert!(buf == data[at..at + buf.len()], "at {at}");
    }
    let mut all = vec![0; data.len()];
    source.read_parallel(0, &mut all).unwrap();
    assert!(all == data);
    let past = source.read_at(data.len() as u64 - 1, &mut [0; 2]);
    assert!(matches!(past, Err(HtbError::PastEnd { .. })));
    assert_eq!(source.read_up_to(u64::MAX, &mut [0]).unwrap(), 0);
    source.verify().unwrap();
}

#[test]
fn every_kind_of_file_is_read() {
    let data = data(5_000_001);
    let mut several = foreign(&data[..1_500_000]);
    several.extend(foreign(&[]));
    several.extend(foreign(&data[1_500_000..]));
    for (name, bytes, indexed) in [
        ("plain", data.clone(), false),
        ("ours", ours(&data), true),
        ("foreign", foreign(&data), false),
        ("several members", several, false),
    ] {
        for memory_limit in [1 << 30, 2 << 20, 0] {
            let source = source(bytes.clone(), memory_limit);
            assert_eq!(source.block_index().is_some(), indexed, "{name}");
            check_reads(&source, &data);
        }
    }
}

#[test]
fn others_read_ours() {
    for len in [0, 1, 1 << 18, (1 << 18) + 1, 3_000_000] {
        let data = data(len);
        let bytes = ours(&data);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut back).unwrap();
        assert!(back == data, "{len}");
        assert_eq!(source(bytes, 0).uncompressed_len().unwrap(), len as u64);
    }
}

#[test]
fn the_index_fits_whatever_the_length() {
    for shift in 0..43 {
        let len = (1_u64 << shift) + 12_345;
        let header = BlockIndex::header_len(len).unwrap();
        assert!(header <= 65_535 + 12, "{len}");
    }
    assert_eq!(BlockIndex::stride_for(64 << 20), 19);
    assert_eq!(BlockIndex::stride_for((64 << 20) + 1), MIN_STRIDE_LOG2);
    assert_eq!(BlockIndex::stride_for(1 << 30), MIN_STRIDE_LOG2);
    assert!(BlockIndex::stride_for(1 << 40) > MIN_STRIDE_LOG2);
    assert_eq!(BlockIndex::header_len(u64::MAX), None);
}

#[test]
fn strides_of_long_streams_are_read() {
    let data = data(3_000_000);
    for (stride_log2, blocks) in [(17, 23), (18, 12), (20, 3)] {
        let mut writer =
            GzipWriter::new(Cursor::new(Vec::new()), data.len() as u64, Compression::Fast).unwrap();
        writer.set_stride_for_tests(stride_log2);
        writer.write_all(&data).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut back).unwrap();
        assert!(back == data, "2^{stride_log2}");
        let source = source(bytes, 0);
        assert_eq!(source.block_index().unwrap().blocks(), blocks, "2^{stride_log2}");
        check_reads(&source, &data);
    }
}

#[test]
fn a_block_is_not_larger_than_the_length_demands() {
    // A mebibyte of zeros a thousand times, said to be one block, behind a table that begins well.
    let deflated = |data: &[u8]| {
        let mut compress = flate2::Compress::new(flate2::Compression::new(1), false);
        let mut out = Vec::with_capacity(1 << 16);
        compress.compress_vec(data, &mut out, flate2::FlushCompress::Full).unwrap();
        out
    };
    let begin = b"<tablebase/>".to_vec();
    let mut block = deflated(&begin);
    block.extend(deflated(&vec![0; 1 << 20]).repeat(1000));
    let len = begin.len() as u64 + (1000 << 20);
    let index = BlockIndex {
        stride_log2: 30,
        len,
        starts: vec![0, block.len() as u64],
        crcs: vec![crc32fast::hash(&block)],
    };
    let data = index.to_data();
    let mut bytes = super::member::fixed_part(super::member::FEXTRA).to_vec();
    for part in [&(data.len() as u16 + 4).to_le_bytes()[..], b"HF"] {
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(&(data.len() as u16).to_le_bytes());
    for part in [&data[..], &block, &[3, 0], &[0; 8]] {
        bytes.extend_from_slice(part);
    }
    let cache = BlockCache::new(1 << 20);
    let options = SourceOptions {
        cache: Arc::clone(&cache),
        memory_limit: 1 << 20,
        ..SourceOptions::default()
    };
    let source = GzipSource::new(Box::new(bytes), options).unwrap();
    let mut read = vec![0; begin.len()];
    source.read_at(0, &mut read).unwrap();
    assert_eq!(read, begin);
    // What is inflated is measured out by the header, which is known by now.
    source.set_limit(4 << 20);
    assert!(source.read_at(8 << 20, &mut [0]).is_err());
    assert!(cache.bytes() <= 1 << 20, "{}", cache.bytes());
}

#[test]
fn flipped_bits_are_found() {
    let data = data(600_000);
    for bytes in [ours(&data), foreign(&data)] {
        for k in 0..200 {
            let mut bytes = bytes.clone();
            let at = (k * 104_729) % bytes.len();
            bytes[at] ^= 1 << (k % 8);
            let mut all = vec![0; data.len()];
            let limit = SourceOptions { limit: data.len() as u64, ..SourceOptions::default() };
            let source = GzipSource::new(Box::new(bytes), limit).unwrap();
            let read = source.verify().and_then(|()| source.read_parallel(0, &mut all));
            // The flip may lie in a part that does not matter (time stamp, last block, trailer of
            // ours).
            assert!(read.is_err() || all == data, "flip at {at}");
        }
    }
}

#[test]
fn truncated_files_are_errors() {
    let data = data(600_000);
    for bytes in [ours(&data), foreign(&data)] {
        let end = bytes.len();
        for len in [1, 5, 11, 40, 1000, end / 2] {
            // Our own files are refused when they are opened, others when their end is read.
            let options = SourceOptions { memory_limit: 1 << 30, ..SourceOptions::default() };
            let opened = GzipSource::new(Box::new(bytes[..len].to_vec()), options);
            let read = opened.and_then(|source| {
                source.read_parallel(0, &mut vec![0; data.len()])?;
                source.uncompressed_len()
            });
            assert!(read.is_err(), "{len} of {end}");
        }
    }
    let whole = ours(&data);
    for missing in 1..12 {
        let cut = whole[..whole.len() - missing].to_vec();
        let opened = GzipSource::new(Box::new(cut), SourceOptions::default());
        assert!(matches!(opened, Err(HtbError::PastEnd { .. })), "{missing}");
    }
}

#[test]
fn lengths_are_limited() {
    let data = data(5_000_000);
    for bytes in [ours(&data), foreign(&data)] {
        let source = source(bytes, 1 << 30);
        source.set_limit(4_000_000);
        let read = source.read_at(4_500_000, &mut [0]);
        assert!(matches!(read, Err(HtbError::TooLong { limit: 4_000_000 })));
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let mut writer = GzipWriter::new(Cursor::new(Vec::new()), 10, Compression::Best).unwrap();
    writer.write_all(&[1; 9]).unwrap();
    assert!(matches!(writer.finish(), Err(HtbError::Length { written: 9, expected: 10 })));
    let mut writer = GzipWriter::new(Cursor::new(Vec::new()), 10, Compression::Best).unwrap();
    assert!(writer.write_all(&[1; 11]).is_err());
}

#[test]
fn the_cache_keeps_its_limit() {
    let cache = BlockCache::new(3 << 20);
    for block in 0..30 {
        cache.insert(1, block, Arc::from(vec![0; 1_000_000]));
        assert!(cache.bytes() <= 3 << 20);
        // What is used again and again stays.
        cache.insert(2, 0, Arc::from(vec![0; 1000]));
        assert!(cache.get(2, 0).is_some());
    }
    assert!(cache.bytes() >= 1_000_000);
    cache.remove_source(1);
    assert!(cache.bytes() <= 1000 && cache.get(1, 29).is_none());
}

#[test]
fn files_appear_complete_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("kqk.htb");
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    let dropped = AtomicFile::create(&target).unwrap();
    dropped.writer().write_all(b"half").unwrap();
    assert!(dropped.temporary_path().exists() && !target.exists());
    drop(dropped);
    assert_eq!(names(), 0);
    let (first, second) =
        (AtomicFile::create(&target).unwrap(), AtomicFile::create(&target).unwrap());
    first.writer().write_all(b"whole").unwrap();
    first.commit().unwrap();
    drop(second);
    assert_eq!((std::fs::read(&target).unwrap(), names()), (b"whole".to_vec(), 1));
    assert!(AtomicFile::create(folder.path().join("none/x")).is_err());
}

#[test]
fn entries_are_read_in_bulk() {
    let codec = EntryCodec::new(Format::Dtm(None), 5, Variant::Normal).unwrap();
    let numbers: Vec<i16> = (0..1_000_003_u64).map(|k| (k % 977 * k % 31) as i16 - 15).collect();
    let mut stream = b"<tablebase/>\n".to_vec();
    let area = stream.len() as u64;
    codec.pack(&numbers, &mut stream).unwrap();
    for bytes in [ours(&stream), foreign(&stream), stream] {
        let source = source(bytes, 1 << 30);
        for first in [0, 8, 500_000] {
            let mut packed = vec![0; ((numbers.len() - first) * 5).div_ceil(8)];
            source.read_parallel(area + first as u64 / 8 * 5, &mut packed).unwrap();
            let mut out = vec![0_i16; numbers.len() - first];
            codec.unpack(&packed, &mut out).unwrap();
            assert!(out == numbers[first..]);
        }
        let mut beyond = vec![0; (numbers.len() + 8) * 5 / 8];
        assert!(source.read_parallel(area, &mut beyond).is_err());
    }
}

proptest! {
    #[test]
    fn nothing_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..300), gzip in any::<bool>()) {
        if gzip && bytes.len() > 4 {
            let flags = bytes[3] & 0x1f;
            bytes[..4].copy_from_slice(&[0x1f, 0x8b, 8, flags]);
        }
        let options = SourceOptions { limit: 1 << 20, ..SourceOptions::default() };
        let source = GzipSource::new(Box::new(bytes), options).unwrap();
        let _ = source.verify();
        let _ = source.read_at(3, &mut [0; 100]);
    }
}
