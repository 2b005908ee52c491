//! Writes the committed seeds that are not text: small tables under `corpus/htb`,
//! `corpus/htb_plain` and `corpus/hbf`; and a receipt that holds.
//!
//! `cargo run --manifest-path fuzz/Cargo.toml --example make_seeds`. The entries of `.htb` are a
//! pattern, not the values of the positions: the targets only read them.

use std::error::Error;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use hoffman::{OneTable, Options, Target};
use hoffman_board::{Bitboard, Format, Square, Variant};
use hoffman_control::{
    ControlFile, GenerationStatistics, HeaderEdits, PassStatistics, PawnMasks, PawngenEdits,
    Strictness, check_pieces, render_header, resolve_pieces_with,
};
use hoffman_table::htb::GzipWriter;
use hoffman_table::{EntryCodec, IndexParams, IndexSpace, PawnStructure, PawnStructures};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const KINGS: &str = "<piece color=\"white\" type=\"king\" location=\"a1 b1 c1 b2\"/>\n\
     <piece color=\"black\" type=\"king\" location=\"f6 g6 g7 h8\"/>\n";

fn main() -> Result<()> {
    let corpus = &Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let bare = "<tablebase><dtm/><piece color='white' type='king'/>\
                <piece color='black' type='king'/><output filename='kk.htb'/></tablebase>";
    let rook = "<piece color=\"white\" type=\"rook\" location=\"d1 d2 d3 d4\"/>";
    let pawns = "<piece color=\"white\" type=\"pawn\" location=\"b2+\"/>\
                 <piece color=\"black\" type=\"pawn\" location=\"b7+\"/>";
    let knights = "<piece color='black' type='knight' location='e4 e5 e6'/>\
                   <piece color='black' type='knight' location='e4 e5 e6'/>";
    let restricted = |more: &str| format!("<tablebase>\n{KINGS}{more}\n</tablebase>\n");
    let streams = [
        ("kk", bare.to_owned()),
        ("krk-basic", restricted(&format!("<basic/>{rook}"))),
        ("krk-wins", restricted(&format!("<flag type='white-wins'/><index type='simple'/>{rook}"))),
        ("kpkp-dtc", restricted(&format!("<dtc bits=\"9\"/>{pawns}"))),
        ("kknn-compact", restricted(&format!("<dtm/><index type='compact'/>{knights}"))),
        (
            "kk-umlaut",
            "<!-- ä --><tablebase><dtm/><piece color='white' type='king'/>\
                  <piece color='black' type='king'/></tablebase>"
                .to_owned(),
        ),
    ];
    for (name, text) in &streams {
        let stream = stream(text, None)?;
        write(corpus, "htb_plain", name, &stream)?;
        write(corpus, "htb", name, &ours(&stream)?)?;
    }
    let structured = "<tablebase><dtm/><index type=\"combinadic4\"/>\n\
         <pawngen white-pawn-locations=\"b2\" black-pawn-locations=\"c4\" white-pawns-required=\"1\" \
         black-pawns-required=\"1\"/>\n\
         <piece color=\"white\" type=\"king\" location=\"a1 a2 h1\"/>\n\
         <piece color=\"black\" type=\"king\" location=\"g8 h8\"/>\n</tablebase>\n";
    let pawngen = stream(structured, Some(&structures()))?;
    write(corpus, "htb_plain", "pawngen", &pawngen)?;
    write(corpus, "htb", "pawngen", &ours(&pawngen)?)?;
    let kk = stream(bare, None)?;
    write(corpus, "htb", "foreign", &member(&kk, GzBuilder::new())?)?;
    let named = GzBuilder::new().filename("kk").comment("no").extra(*b"XX\x01\x00x");
    let (front, back) = kk.split_at(kk.len() / 2);
    let mut members = member(front, named)?;
    members.extend(member(back, GzBuilder::new())?);
    members.extend(b"rubbish");
    write(corpus, "htb", "members", &members)?;
    blocks(corpus)?;
    receipt(corpus)
}

/// Files of cells, without and with distances, and one of entries.
fn blocks(corpus: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = Options::new(folder.path()).reproducible(true).profile(hoffman::Profile::Fast);
    let entries = folder.path().join("entries.xml");
    let kings = "<piece color='white' type='king'/><piece color='black' type='king'/>";
    let text = format!("<tablebase><dtc/>{kings}<output filename='entries.hbf'/></tablebase>");
    fs::write(&entries, text)?;
    let endings = ["KBvK", "KRvK"].map(|name| name.parse().map(Target::Ending));
    let targets = endings.into_iter().chain([Ok(Target::ControlFile(entries))]);
    hoffman::build(&targets.collect::<std::result::Result<Vec<_>, _>>()?, &options, &mut |_| {})?;
    for name in ["kbk", "krk", "entries"] {
        let bytes = fs::read(folder.path().join(format!("{name}.hbf")))?;
        fs::create_dir_all(corpus.join("hbf"))?;
        fs::write(corpus.join("hbf").join(name), bytes)?;
    }
    Ok(())
}

/// That of KRvK made from KvK.
fn receipt(corpus: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = Options::new(folder.path()).blocks(false).reproducible(true);
    hoffman::build(&[Target::Ending("KvK".parse()?)], &options, &mut |_| {})?;
    let receipt = folder.path().join("receipt");
    OneTable::of_targets("KRvK", &[], &options)?.build(Some(&receipt), &options, &mut |_| {})?;
    write(corpus, "receipt", "holds", &fs::read(receipt)?)
}

fn write(corpus: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<()> {
    assert!(bytes.len() < 4096, "{name} has {} bytes", bytes.len());
    let folder = corpus.join(target);
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join(name), bytes)?)
}

/// Two structures and the one with the en passant square between them.
fn structures() -> Vec<PawnStructure> {
    let structure = |white, en_passant| PawnStructure {
        white: Bitboard::from(white),
        black: Bitboard::from(Square::C4),
        en_passant,
    };
    vec![
        structure(Square::B2, None),
        structure(Square::B3, None),
        structure(Square::B4, None),
        structure(Square::B4, Some(Square::B3)),
    ]
}

/// The uncompressed stream of a table made from a control file.
fn stream(text: &str, structures: Option<&[PawnStructure]>) -> Result<Vec<u8>> {
    let control = ControlFile::parse(text, "seed", Strictness::Control)?;
    let union = |side: fn(&PawnStructure) -> Bitboard, list: &[PawnStructure]| {
        list.iter().fold(Bitboard::EMPTY, |all, s| all | side(s))
    };
    let masks = structures
        .map(|list| PawnMasks { white: union(|s| s.white, list), black: union(|s| s.black, list) });
    let pieces = resolve_pieces_with(&control, masks)?;
    let symmetry = check_pieces(&control, &pieces)?;
    let (format, bits) = match control.entry_format() {
        Format::Dtm(bits) => (Format::Dtm(Some(bits.unwrap_or(5))), bits.unwrap_or(5)),
        Format::Dtc(bits) => (Format::Dtc(Some(bits.unwrap_or(5))), bits.unwrap_or(5)),
        Format::Basic => (Format::Basic, 2),
        flag @ Format::Flag(_) => (flag, 1),
    };
    let space = IndexSpace::new(IndexParams {
        index_type: control.index_type(),
        symmetry,
        variant: control.variant,
        format_is_flag: matches!(format, Format::Flag(_)),
        pieces,
        pawn_structures: structures.map(|list| PawnStructures {
            slots: 0..2,
            list: list.to_vec(),
            start: 0,
            count: 0,
        }),
    })?;
    space.check_writable()?;
    let edits = HeaderEdits {
        symmetry,
        format: Some(format),
        tablebase_statistics: vec![
            ("indices".to_owned(), space.size() as i64),
            ("max-dtm".to_owned(), 12),
            ("min-dtm".to_owned(), -11),
        ],
        generation_statistics: Some(GenerationStatistics {
            host: "here".to_owned(),
            program: "Hoffman 2.0.0 (Rust)".to_owned(),
            passes: vec![PassStatistics { dtm: Some(-1), ..PassStatistics::default() }],
            ..GenerationStatistics::default()
        }),
        pawngen: masks
            .zip(structures)
            .map(|(masks, list)| PawngenEdits { masks, structures: list.len() as u64 }),
        instruction: Some("seed=\"1\"".to_owned()),
        ..HeaderEdits::default()
    };
    let mut stream = render_header(&control, &edits)?.bytes;
    for structure in structures.unwrap_or_default() {
        stream.extend(structure.to_bytes());
    }
    let codec = EntryCodec::new(format, bits, Variant::Normal)?;
    let pattern = |index: u64| match (bits, index % 29 % 17) {
        (1, n) => (n & 1) as i32,
        (2, n) => (n & 3) as i32,
        (_, n) => n as i32 - 8,
    };
    let numbers: Vec<i32> = (0..space.size()).map(pattern).collect();
    codec.pack(&numbers, &mut stream)?;
    Ok(stream)
}

fn ours(stream: &[u8]) -> Result<Vec<u8>> {
    let mut writer = GzipWriter::new(
        Cursor::new(Vec::new()),
        stream.len() as u64,
        hoffman_table::htb::Compression::Normal,
    )?;
    writer.write_all(stream)?;
    Ok(writer.finish()?.into_inner())
}

fn member(stream: &[u8], builder: GzBuilder) -> Result<Vec<u8>> {
    let mut encoder: GzEncoder<Vec<u8>> = builder.write(Vec::new(), Compression::new(6));
    encoder.write_all(stream)?;
    Ok(encoder.finish()?)
}
