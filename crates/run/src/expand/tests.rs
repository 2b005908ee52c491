//! Expansions of small texts, with tables of other programs as futurebases, whose names are enough.

use std::fs;

use hoffman_board::{Color, Role};
use hoffman_control::{FuturebaseElement, PawngenElement, Strictness};
use hoffman_plan::Node;
use tempfile::TempDir;

use super::*;

const KINGS: &str = "<piece color='white' type='king'/><piece color='black' type='king'/>";
const CONCEDE: &str = "<prune-enable color='white' type='concede'/>\
    <prune-enable color='black' type='concede'/>\
    <prune color='white' move='P*=?' type='concede'/>\
    <prune color='black' move='P*=?' type='concede'/>";
const START: &str = "white-pawn-locations='b3 c2 d3' black-pawn-locations='b5 c7 d5'";
const PLUS: &str = "<piece color='white' type='pawn' location='b3+'/>\
    <piece color='white' type='pawn' location='c2+'/>\
    <piece color='white' type='pawn' location='d3+'/>\
    <piece color='black' type='pawn' location='b5+'/>\
    <piece color='black' type='pawn' location='c7+'/>\
    <piece color='black' type='pawn' location='d5+'/>";

/// Expands a text that is called `NAME.xml` in a folder of its own.
fn try_expand(name: &str, inside: &str) -> Result<Expansion, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, format!("<tablebase>\n<dtm/>{inside}\n</tablebase>")).unwrap();
    expand(&path, Some(Path::new("")), &Workplace::default()).map_err(|e| e.to_string())
}

fn expand_text(inside: &str) -> Expansion {
    try_expand("r.xml", inside).unwrap()
}

fn names(expansion: &Expansion) -> Vec<&str> {
    expansion.graph.nodes.iter().map(|n| n.source.name.to_str().unwrap()).collect()
}

fn table<'e>(expansion: &'e Expansion, name: &str) -> &'e Expanded {
    &node(expansion, name).source
}

fn node<'e>(expansion: &'e Expansion, name: &str) -> &'e Node<Expanded> {
    expansion.graph.nodes.iter().find(|n| n.source.name == Path::new(name)).unwrap()
}

fn futurebases(expansion: &Expansion, name: &str) -> Vec<String> {
    let control = &table(expansion, name).control;
    let control = ControlFile::parse(control, name, Strictness::Control).unwrap();
    let shown = |f: &FuturebaseElement| {
        format!("{}{}", f.filename, if f.inverted { " inverted" } else { "" })
    };
    control.futurebases.iter().map(shown).collect()
}

fn element(expansion: &Expansion, name: &str) -> PawngenElement {
    let control = &table(expansion, name).control;
    ControlFile::parse(control, name, Strictness::Control).unwrap().pawngen.unwrap()
}

#[test]
fn a_race_has_a_table_for_each_pair_of_numbers() {
    let race = expand_text(&format!(
        "{KINGS}<pawngen {START}/><futurebase filename='KPvKP.rtbw'/>\
         <futurebase filename='x/kppk.nbw.emd'/>\
         <futurebase filename='KPPvK.rtbw' colors='invert'/>{CONCEDE}"
    ));
    let found = |men: &str, file: &str| (men.to_owned(), file.to_owned());
    assert_eq!(race.found, [found("K1K1", "KPvKP.rtbw"), found("K2K0", "x/kppk.nbw.emd")]);
    assert_eq!(
        names(&race),
        [
            "r-0-3.xml",
            "r-1-2.xml",
            "r-2-1.xml",
            "r-3-0.xml",
            "r-1-3.xml",
            "r-2-2.xml",
            "r-3-1.xml",
            "r-2-3.xml",
            "r-3-2.xml",
            "r-3-3.xml"
        ]
    );
    for (name, expected) in [
        ("r-3-3.xml", &["r-2-3.htb", "r-3-2.htb"][..]),
        ("r-2-2.xml", &["r-1-2.htb", "r-2-1.htb"]),
        ("r-2-1.xml", &["KPvKP.rtbw", "x/kppk.nbw.emd"]),
        ("r-3-0.xml", &["x/kppk.nbw.emd"]),
        ("r-0-3.xml", &["KPPvK.rtbw inverted"]),
    ] {
        assert_eq!(futurebases(&race, name), expected, "{name}");
    }
    let two = element(&race, "r-2-1.xml");
    assert_eq!((two.white.pawns_required, two.black.pawns_required), (Some(2), Some(1)));
    assert_eq!(node(&race, "r-2-1.xml").output, Path::new("r-2-1.htb"));
    assert!(table(&race, "r-2-1.xml").control.contains("Created by pawngen from r.xml"));
}

#[test]
fn structures_that_cannot_arise_have_no_table() {
    let queen = expand_text(&format!(
        "{KINGS}<piece color='white' type='queen'/>\
         <pawngen {START} white-queens-required='1'/>\
         <futurebase filename='KQvKP.rtbw'/><futurebase filename='KQPvK.rtbw'/>{CONCEDE}"
    ));
    assert_eq!(
        names(&queen),
        [
            "r-0-2.xml",
            "r-1-1.xml",
            "r-2-0.xml",
            "r-0-3.xml",
            "r-1-2.xml",
            "r-2-1.xml",
            "r-1-3.xml",
            "r-2-2.xml"
        ]
    );
    assert_eq!(futurebases(&queen, "r-2-2.xml"), ["r-1-2.htb", "r-2-1.htb"]);
}

#[test]
fn promotions_and_captures_of_pieces_lead_to_given_tables() {
    let rook = expand_text(&format!(
        "{KINGS}<piece color='black' type='rook'/>\
         <pawngen white-pawn-locations='c4' black-pawn-locations=''/>\
         <futurebase filename='KQvKR.rtbw'/><futurebase filename='KPvK.rtbw'/>\
         <futurebase filename='KRvK.rtbw' colors='invert'/><futurebase filename='KQvK.rtbw'/>{CONCEDE}"
    ));
    assert_eq!(names(&rook), ["r-1-0.xml"]);
    let expected = ["KRvK.rtbw inverted", "KQvKR.rtbw", "KPvK.rtbw"];
    assert_eq!(futurebases(&rook, "r-1-0.xml"), expected);
}

#[test]
fn plus_pawns_become_structures() {
    let race = expand_text(&format!(
        "<index type='compact'/>{KINGS}{PLUS}<futurebase filename='KPvK.rtbw'/>\
         <futurebase filename='KPvK.rtbw' colors='invert'/>{CONCEDE}"
    ));
    assert_eq!(race.graph.nodes.len(), 13);
    assert!(race.notices.iter().any(|n| n.contains("combinadic5")));
    let whole = element(&race, "r-3-3.xml");
    assert_eq!(whole.white.start, "b3 c2 d3".split(' ').map(square).collect());
    assert_eq!(whole.black.start, "b5 c7 d5".split(' ').map(square).collect());
    assert_eq!(futurebases(&race, "r-1-1.xml"), ["KPvK.rtbw", "KPvK.rtbw inverted"]);
}

fn square(text: &str) -> hoffman_board::Square {
    text.parse().unwrap()
}

#[test]
fn conditions_are_decided_for_each_table() {
    let race = expand_text(&format!(
        "<prune-enable color='white' type='discard'/><prune-enable color='black' type='concede'/>\
         {KINGS}{PLUS}<futurebase filename='KPvK.rtbw'/><futurebase filename='KQvK.rtbw'/>\
         <futurebase filename='KQvKP.rtbw'/><futurebase filename='KQPvK.rtbw'/>\
         <prune color='white' move='P=[NBR]' type='discard'/>\
         <prune color='white' move='P=Q' type='discard' \
             pawngen-condition='grep(/Q/,@white_pieces)==1'/>\
         <prune color='black' move='P*=?' type='concede'/>\
         <prune color='black' move='?xQ' type='concede'/>\
         <prune color='black' move='?xP' type='concede' \
             pawngen-condition='grep(/Q/,@white_pieces)==0 and $#white_pawns==0'/>"
    ));
    assert_eq!(race.graph.nodes.len(), 19);
    assert_eq!(names(&race).iter().filter(|name| name.contains("kqk")).count(), 8);
    let prunes = |name: &str| {
        let control = &table(&race, name).control;
        let control = ControlFile::parse(control, name, Strictness::Control).unwrap();
        control.prunes.iter().map(|p| p.pattern.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(prunes("r-2-2.xml"), ["P=[NBR]", "P*=?", "?xQ"]);
    assert_eq!(prunes("r-1-2.xml"), ["P=[NBR]", "P*=?", "?xQ", "?xP"]);
    assert_eq!(prunes("r-kqk-1-2.xml"), ["P=[NBR]", "P=Q", "P*=?", "?xQ"]);
    assert_eq!(futurebases(&race, "r-1-2.xml"), ["r-1-1.htb", "r-kqk-0-2.htb"]);
    assert_eq!(element(&race, "r-kqk-1-2.xml").white.queens_required, 1);
    assert!(table(&race, "r-kqk-1-2.xml").control.contains("type=\"queen\""));
}

#[test]
fn conditions_ask_for_the_files_of_pawns() {
    let race = expand_text(&format!(
        "{KINGS}<piece color='white' type='pawn' location='b3+'/>\
         <piece color='black' type='pawn' location='d6+'/>{CONCEDE}\
         <prune color='black' move='KxP' type='concede' \
             pawngen-condition='grep(/b/,@white_pawns)'/>\
         <prune color='white' move='KxP' type='concede' \
             pawngen-condition='grep(/[ac]/,@black_pawns)'/>"
    ));
    let prunes = |name: &str| {
        let control =
            ControlFile::parse(&table(&race, name).control, name, Strictness::Control).unwrap();
        control
            .prunes
            .iter()
            .filter(|p| p.matches("KxP".parse().unwrap()))
            .map(|p| p.color)
            .collect::<Vec<_>>()
    };
    assert_eq!(prunes("r-1-1.xml"), [Color::Black]);
    assert_eq!(prunes("r-1-0.xml"), [Color::Black]);
}

#[test]
fn captures_by_pawns_are_allowed_where_they_can_have_happened() {
    let race = expand_text(&format!(
        "{KINGS}<piece color='black' type='rook'/><piece color='black' type='rook'/>\
         <piece color='white' type='pawn' location='b2+'/>{CONCEDE}"
    ));
    let captures = |name: &str| element(&race, name).white.captures_allowed;
    assert_eq!(captures("r-1-0.xml"), 0);
    assert_eq!(captures("r-kkr-1-0.xml"), 1);
    assert_eq!(captures("r-kk-1-0.xml"), 2);
    assert_eq!(table(&race, "r-kkr-1-0.xml").control.matches("rook").count(), 1);
    let none = element(&race, "r-kk-0-0.xml");
    assert_eq!((none.white.pawns_required, none.white.captures_allowed), (Some(0), 2));
}

#[test]
fn promoted_men_stand_beside_their_like() {
    let race = expand_text(&format!(
        "<prune-enable color='white' type='discard'/>{KINGS}<piece color='white' type='rook'/>\
         <piece color='white' type='pawn' location='b7+'/>\
         <prune color='white' move='P=[QBN]' type='discard'/>"
    ));
    let two = table(&race, "r-krrk-0-0.xml");
    let control = ControlFile::parse(&two.control, "r", Strictness::Control).unwrap();
    let roles: Vec<Role> = control.pieces.iter().map(|p| p.role).collect();
    assert_eq!(roles, [Role::King, Role::King, Role::Rook, Role::Rook]);
}

#[test]
fn patterns_do_not_mean_the_tables_to_be_made() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.xml");
    for name in ["r-1-1.htb", "r-kqk-1-1.htb", "s-1-1.htb"] {
        fs::write(folder.path().join(name), "no table").unwrap();
    }
    let text = |pattern: &str| {
        format!(
            "<tablebase><dtm/>{KINGS}<pawngen {START}/>\
             <futurebase filename='{}/{pattern}'/>{CONCEDE}</tablebase>",
            folder.path().display()
        )
    };
    fs::write(&path, text("r-*.htb")).unwrap();
    // Tables of 2006 have names with their men; others are none of this expansion's.
    let error = expand(&path, None, &Workplace::default()).unwrap_err().to_string();
    assert!(error.contains("r-kqk-1-1.htb"), "{error}");
    fs::write(&path, text("[r]-1-*.htb")).unwrap();
    let expansion = expand(&path, None, &Workplace::default()).unwrap();
    assert!(expansion.notices.iter().any(|n| n.contains("no file fits")));
    fs::write(&path, text("s-*.htb")).unwrap();
    let error = expand(&path, None, &Workplace::default()).unwrap_err().to_string();
    assert!(error.contains("s-1-1.htb"), "{error}");
}

#[test]
fn files_are_written_beside_the_input() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.xml");
    let text = format!("<tablebase><dtm/>{KINGS}<pawngen {START}/>{CONCEDE}</tablebase>");
    fs::write(&path, &text).unwrap();
    let expansion = expand(&path, None, &Workplace::default()).unwrap();
    assert_eq!(expansion.graph.nodes.len(), 16);
    let makefile = write_expansion(&expansion).unwrap().unwrap();
    let rules = fs::read_to_string(makefile).unwrap();
    let stem = folder.path().join("r");
    let rule = format!("{0}-1-0.htb: {0}-1-0.xml {0}-0-0.htb\n\t", stem.display());
    assert!(rules.contains(&rule), "{rules}");
    for table in expansion.graph.nodes.iter().map(|node| &node.source) {
        assert_eq!(fs::read_to_string(&table.name).unwrap(), table.control);
    }
    let blank = folder.path().join("a b.xml");
    fs::write(&blank, &text).unwrap();
    let expansion = expand(&blank, None, &Workplace::default()).unwrap();
    assert_eq!(write_expansion(&expansion).unwrap(), None);
    assert!(folder.path().join("a b-3-3.xml").is_file());
    assert!(!expansion.makefile.exists());
}

#[test]
fn nothing_is_overwritten_but_what_an_expansion_wrote() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.xml");
    let text = format!("<tablebase><dtm/>{KINGS}<pawngen {START}/>{CONCEDE}</tablebase>");
    let write = |text: &str| {
        fs::write(&path, text).unwrap();
        write_expansion(&expand(&path, None, &Workplace::default()).unwrap())
            .map(drop)
            .map_err(|e| e.to_string())
    };
    write(&text).unwrap();
    // Once more, and after the input was changed.
    write(&text).unwrap();
    let changed = text.replace("P*=?", "P=?");
    write(&changed).unwrap();
    let last = folder.path().join("r-3-3.xml");
    let made = fs::read_to_string(&last).unwrap();
    assert!(made.contains("P=?"), "{made}");
    for (name, edit) in [("r-3-3.xml", "<!-- mine -->"), ("r.mk", "# mine\n")] {
        let file = folder.path().join(name);
        let made = fs::read_to_string(&file).unwrap();
        let edited = format!("{made}{edit}");
        fs::write(&file, &edited).unwrap();
        let error = write(&text).unwrap_err();
        assert!(error.contains(name) && error.contains("not as pawngen wrote it"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), edited);
        // Nothing else was written either.
        let other = fs::read_to_string(folder.path().join("r-0-0.xml")).unwrap();
        assert!(other.contains("P=?"), "{other}");
        fs::write(&file, made).unwrap();
    }
    write(&text).unwrap();
}

#[test]
fn inputs_without_sense_are_refused() {
    let pawngen = format!("<pawngen {START}/>");
    for (inside, message) in [
        (format!("{KINGS}{pawngen}<output filename='x.htb'/>"), "names no output"),
        (format!("{KINGS}<output filename='x.htb'/>{PLUS}"), "names no output"),
        (format!("<index type='combinadic5' symmetry='8'/>{KINGS}{pawngen}"), "symmetry 8"),
        (
            format!("{KINGS}<piece color='white' type='rook' location='a1'/>{pawngen}"),
            "only pawns can be restricted",
        ),
        (KINGS.to_owned(), "nothing to expand"),
        (format!("{KINGS}{pawngen}{pawngen}"), "pawn structures"),
        (format!("<piece color='white' type='king'/>{pawngen}"), "black has 0 kings"),
        (
            format!("{KINGS}{pawngen}<prune color='white' move='K*' type='discard'/>"),
            "prune-enable",
        ),
        (format!("{KINGS}<pawngen {START} white-pawns-required='1'/>"), "given already"),
        (format!("{KINGS}<pawngen {START} start='1'/>"), "start and count"),
        (format!("{KINGS}<pawngen {START} white-queens-required='4'/>"), "fewer pawns"),
        (
            format!("{KINGS}<pawngen white-pawn-locations='b2' black-pawn-locations='b2'/>"),
            "no pawn position",
        ),
        (format!("{KINGS}{pawngen}<futurebase filename='kqk.htb'/>"), "no such file"),
        (format!("{KINGS}{pawngen}<futurebase filename='kxk.rtbw'/>"), "no piece letter"),
        (
            format!("{KINGS}<piece color='white' type='pawn' location='a2 a3'/>"),
            "needs one square and a plus sign",
        ),
        (format!("{KINGS}{PLUS}{PLUS}"), "another pawn begins"),
        (
            format!(
                "{KINGS}{PLUS}{CONCEDE}<prune color='white' move='KxP' type='concede' \
                 pawngen-condition='die'/>"
            ),
            "line 2, <prune>: the condition 'die' cannot be read",
        ),
        (
            format!(
                "{KINGS}{PLUS}{CONCEDE}<prune color='white' move='KxR' type='concede' \
                 pawngen-condition='grep(/b/,@white_pawns)'/>"
            ),
            "holds in some positions of the table r-3-2 only",
        ),
    ] {
        let error = try_expand("r.xml", &inside).unwrap_err();
        assert!(error.contains(message), "{inside}: {error}");
        assert!(error.contains("r.xml"), "{error}");
    }
    let good = format!("{KINGS}{pawngen}{CONCEDE}");
    for name in ["r.txt", ".xml"] {
        assert!(try_expand(name, &good).unwrap_err().contains("end in .xml"), "{name}");
    }
    assert!(try_expand("r.xml", &good).is_ok());
}
