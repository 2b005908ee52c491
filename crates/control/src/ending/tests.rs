//! Names of endings, their options, and what an ending leads to.

use super::*;

fn ending(name: &str) -> Ending {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn futurebases(name: &str) -> Vec<String> {
    let ending = ending(name);
    let named = ending.named_futurebases(ending.omits_side_to_move());
    let sign = |inverted| if inverted { "-" } else { "" };
    named.into_iter().map(|(stem, inverted)| format!("{}{stem}", sign(inverted))).collect()
}

fn names(endings: &[Ending]) -> Vec<String> {
    endings.iter().map(ToString::to_string).collect()
}

#[test]
fn names_are_read_and_written() {
    for name in ["kk", "kqk", "kppkp-basic-prop3", "kkvp-naive", "pvp", "kkp-4x4", "kkq-whitewins"]
    {
        assert_eq!(ending(name).to_string(), name);
        assert_eq!(ending(&format!("{name}.xml")).to_string(), name);
    }
    let naive2 = ending("kqqk-naive2").control_text().unwrap();
    assert!(naive2.contains("<index type=\"naive2\"/>"), "{naive2}");
}

#[test]
fn other_names_are_refused() {
    let message = |name: &str| name.parse::<Ending>().unwrap_err().to_string();
    for (name, proper) in [
        ("kkq.xml", "kqk"),
        ("krqk", "kqrk"),
        ("krkq-basic", "kqkr-basic"),
        ("pvk.xml", "kvp"),
        ("krqk-4x4", "kqrk-4x4"),
    ] {
        let message = message(name);
        assert!(message.starts_with(&format!("Improper control filename {name}: ")), "{message}");
        assert!(message.ends_with(&format!("; write {proper}.xml")), "{message}");
    }
    for name in [
        "foo.xml",
        "",
        ".xml",
        "k",
        "KQK",
        "kqkk",
        "vk",
        "kv",
        "kvkvk",
        "kqk.htb",
        "kxk",
        "a/kqk",
        "kqk-",
        "kqk-fast",
        "kqk-prop",
        "kqk-prop0",
        "kqk-prop01",
        "kqk-prop+1",
        "kqk-basic-basic",
        "kqk-basic-whitewins",
        "kqk-naive-naive2",
        "kqk-4x4-2x8",
        "kqqqqqqqqqqqqqqqqkqqqqqqqqqqqqqqq",
        "kék",
        "ké",
        "évk",
        "kqk-é",
        "v",
        "-",
    ] {
        let message = message(name);
        assert!(message.starts_with(&format!("Invalid control filename {name}: ")), "{message}");
    }
}

#[test]
fn futurebases_are_those_of_the_rules() {
    assert_eq!(futurebases("kk"), [""; 0]);
    assert_eq!(futurebases("krkn"), ["-knk", "krk"]);
    assert_eq!(futurebases("kpkp"), ["kpk", "kqkp", "krkp", "kbkp", "knkp"]);
    // The side to move is stored: both sides' moves need tables.
    assert_eq!(futurebases("kqkq"), ["kqk"]);
    for index in ["naive", "simple", "compact"] {
        let both = [format!("-kqk-{index}"), format!("kqk-{index}")];
        assert_eq!(futurebases(&format!("kqkq-{index}")), both);
    }
    assert_eq!(futurebases("kqkq-basic"), ["kqk-basic"]);
    // No inversion where both sides are not alike.
    assert_eq!(futurebases("kqkq-4x4"), ["kkq-4x4", "kqk-4x4"]);
    assert_eq!(futurebases("kkr-whitewins"), ["kk-whitewins"]);
}

#[test]
fn suicide_chess_has_its_own_rules() {
    // A side without men has won: no table. A pawn may become a king.
    assert_eq!(futurebases("kvk"), [""; 0]);
    assert_eq!(futurebases("krvq"), ["-qvr", "kvq"]);
    assert_eq!(futurebases("kvp"), ["kvq", "kvr", "kvb", "kvn", "kvk"]);
    let text = ending("kvp").control_text().unwrap();
    assert!(text.contains("<variant name=\"suicide\"/>"), "{text}");
}

#[test]
fn dependencies_are_complete() {
    assert_eq!(names(&ending("kqk").with_dependencies().unwrap()), ["kqk", "kk"]);
    let all = ending("kpk-basic").with_dependencies().unwrap();
    let expected = ["kpk", "kk", "kqk", "krk", "kbk", "knk"].map(|stem| format!("{stem}-basic"));
    assert_eq!(names(&all), expected);
}

#[test]
fn options_that_cannot_be_had_are_refused() {
    for (name, other) in [
        ("kqqqk-naive2", "kqqqk-naive2"),
        ("kqqpk-compact", "kqqqk-compact"),
        ("kvk-compact", "kvk-compact"),
    ] {
        let message = ending(name).with_dependencies().unwrap_err().to_string();
        let start = format!("{name}.xml cannot be written: {other}.xml, line ");
        assert!(message.starts_with(&start), "{message}");
    }
}

/// All sides with so many men, kings included.
fn sides(men: usize, first: usize, roles: &[Role]) -> Vec<Vec<Role>> {
    if men == 0 {
        return vec![Vec::new()];
    }
    let from = |at: usize| {
        sides(men - 1, at, roles).into_iter().map(move |rest| [vec![roles[at]], rest].concat())
    };
    (first..roles.len()).flat_map(from).collect()
}

/// The names of all endings with so many men, stronger side first.
fn endings(men: usize, variant: Variant) -> Vec<String> {
    let mut found = BTreeSet::new();
    let suicide = variant == Variant::Suicide;
    for white in 1..men {
        let (roles, kings) = if suicide { (&NAME_ORDER[..], 0) } else { (&NAME_ORDER[1..], 1) };
        for white_men in sides(white - kings, 0, roles) {
            for black_men in sides(men - white - kings, 0, roles) {
                let side = |color, men: &[Role]| -> Vec<(Color, Role)> {
                    let king = std::iter::repeat_n(Role::King, kings);
                    king.chain(men.iter().copied()).map(|role| (color, role)).collect()
                };
                let men = [side(Color::White, &white_men), side(Color::Black, &black_men)];
                let material = Material::from_men(men.concat());
                let ending = Ending { material, variant, ..Ending::plain(&material) };
                found.insert(ending.proper().0.to_string());
            }
        }
    }
    found.into_iter().collect()
}

const OPTIONS: [&str; 12] = [
    "",
    "-basic",
    "-whitewins",
    "-naive",
    "-naive2",
    "-simple",
    "-compact",
    "-prop64",
    "-4x4",
    "-2x8",
    "-basic-naive-2x8",
    "-whitewins-simple-prop1",
];

#[test]
fn all_files_of_two_to_five_men_are_valid() {
    let counts = |variant| (2..=5).map(move |men| endings(men, variant).len());
    assert_eq!(counts(Variant::Normal).collect::<Vec<_>>(), [1, 5, 30, 110]);
    assert_eq!(counts(Variant::Suicide).collect::<Vec<_>>(), [21, 126, 567, 1932]);
    let mut refused = 0;
    let mut written = 0;
    for variant in [Variant::Normal, Variant::Suicide] {
        for name in (2..=5).flat_map(|men| endings(men, variant)) {
            for option in OPTIONS {
                let ending = ending(&format!("{name}{option}"));
                match ending.control_text() {
                    Ok(text) => {
                        check_file(&ending, &text);
                        written += 1;
                    }
                    Err(error) => {
                        expect_refusable(&ending, &error);
                        refused += 1;
                    }
                }
            }
        }
    }
    println!("{written} files are valid, {refused} are refused");
    assert!(written > 25_000 && refused > 4_000, "{written} {refused}");
}

/// What the text must say about the ending.
fn check_file(ending: &Ending, text: &str) {
    let name = ending.to_string();
    let control = ControlFile::parse(text, &name, Strictness::Control).unwrap();
    assert!(control.notices.is_empty(), "{:?}", control.notices);
    assert_eq!(control.output_name().unwrap(), format!("{name}.htb"));
    assert_eq!(control.variant, ending.variant);
    assert_eq!(control.entry_format(), ending.options.format);
    assert_eq!(control.index_type(), ending.options.index.unwrap_or_default());
    let pieces = resolve_pieces(&control).unwrap();
    let material = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    assert_eq!(material, ending.material);
    let board = ending.options.board.unwrap_or(Bitboard::FULL);
    assert!(pieces.iter().all(|piece| (piece.legal & !board).is_empty()), "{text}");
    assert_eq!(control.prunes.len(), if ending.options.board.is_some() { 2 } else { 0 });
    for futurebase in &control.futurebases {
        // Every table named is one that can be had, and one man or one promotion away.
        let stem = futurebase.filename.strip_suffix(".htb").unwrap();
        let other = stem.parse::<Ending>().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!futurebase.inverted || ending.is_invertible(), "{text}");
        assert_eq!(other.options, ending.options);
        let behind = if futurebase.inverted { other.material.swapped() } else { other.material };
        let lost = material.men() - behind.men();
        assert!(lost <= 1 && behind != material, "{name}: {stem}");
    }
}

/// Only these have no table.
fn expect_refusable(ending: &Ending, error: &EndingError) {
    let index = ending.options.index;
    let most = |role: Role| {
        Color::ALL.into_iter().map(|c| *ending.material.count.get(c).get(role)).max().unwrap()
    };
    let crowd = NAME_ORDER.into_iter().any(|role| most(role) > 2);
    let pairs = matches!(index, Some(IndexType::Naive2 | IndexType::Compact));
    let pawns = index == Some(IndexType::Naive2) && most(Role::Pawn) > 1;
    let suicide = ending.variant == Variant::Suicide;
    assert!(pairs && (crowd || pawns || suicide), "{error}");
}
