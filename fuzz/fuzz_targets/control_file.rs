//! Any bytes as a control file and as the header of a table. What can be rendered as a header must
//! be readable, and say the same.

#![no_main]

use hoffman_board::{Bitboard, Format};
use hoffman_control::{
    ControlFile, GenerationStatistics, HeaderEdits, PawnMasks, PawngenEdits, Strictness,
    check_declarations, check_pieces, decode_text, leading_number, prefix_length, render_header,
    resolve_pieces, resolve_pieces_with,
};
use libfuzzer_sys::fuzz_target;

const KINDS: [&str; 5] = ["Ke4", "KxP", "P=Q", "PxR=Q", "stalemate"];

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode_text(bytes, "fuzz") else { return };
    let _ = (leading_number(&text), prefix_length(bytes));
    for mode in [Strictness::Control, Strictness::Header] {
        let control = match ControlFile::parse(&text, "fuzz", mode) {
            Ok(control) => control,
            Err(error) => {
                let _ = error.to_string();
                continue;
            }
        };
        judge(&control);
        render(&control);
    }
});

/// Everything that is asked about a control file before work begins.
fn judge(control: &ControlFile) {
    let _ = (check_declarations(control), control.output_name(), control.entry_format());
    let masks = PawnMasks { white: Bitboard(0xff00), black: Bitboard(0x00ff_0000_0000_0000) };
    let lists = [resolve_pieces(control), resolve_pieces_with(control, Some(masks))];
    for pieces in lists.into_iter().flatten() {
        let _ = check_pieces(control, &pieces);
    }
    for prune in &control.prunes {
        let _ = KINDS.map(|kind| prune.pattern.matches(kind));
    }
}

fn render(control: &ControlFile) {
    let edits = HeaderEdits {
        symmetry: 1,
        format: Some(Format::Dtm(Some(5))),
        tablebase_statistics: vec![("indices".to_owned(), 462)],
        generation_statistics: Some(GenerationStatistics::default()),
        pawngen: control.pawngen.as_ref().map(|_| PawngenEdits {
            masks: PawnMasks { white: Bitboard(0xff00), black: Bitboard(0x00ff_0000_0000_0000) },
            structures: 3,
        }),
        instruction: Some("made=\"now\"".to_owned()),
        ..HeaderEdits::default()
    };
    let Ok(header) = render_header(control, &edits) else { return };
    let prefix = header.bytes.get(..header.prefix_length).expect("the prefix is a part");
    assert_eq!(prefix_length(prefix), Some(header.prefix_length - 1));
    let text = decode_text(prefix, "rendered").expect("headers are UTF-8");
    let again =
        ControlFile::parse(&text, "rendered", Strictness::Header).expect("headers are readable");
    assert_eq!(again.offset, header.offset);
    assert_eq!(again.symmetry(), Some(1));
    assert_eq!(again.entry_format(), Format::Dtm(Some(5)));
    assert_eq!(again.index_type(), control.index_type());
    assert_eq!(again.statistics.get("indices"), Some(&462));
    assert_eq!(again.instruction.as_deref(), Some("made=\"now\""));
    let men = |c: &ControlFile| {
        c.pieces.iter().map(|p| (p.color, p.role, p.squares, p.plus)).collect::<Vec<_>>()
    };
    assert_eq!(men(&again), men(control));
}
