//! The schema for editors says what the parser says, and nothing else, as far as a schema can.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{complaint, definition, is_rule, page, parse, root, rules};
use hoffman_control::ControlError;
use roxmltree::{Document, Node};

/// Two kings and nothing else.
const KINGS: &str = "<piece color='white' type='king'/><piece color='black' type='king'/>";

/// An element: its name, its required attributes, its content.
type Sample = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// Every element that a control file may hold.
const SAMPLES: [Sample; 24] = [
    ("tablebase", &[], KINGS),
    ("prune-enable", &[("color", "white"), ("type", "concede")], ""),
    ("move-restriction", &[("color", "black"), ("type", "discard")], ""),
    ("variant", &[("name", "suicide")], ""),
    ("index", &[("type", "compact")], ""),
    ("format", &[], "<dtm/>"),
    ("dtm", &[], ""),
    ("dtc", &[], ""),
    ("basic", &[], ""),
    ("flag", &[("type", "white-wins")], ""),
    ("piece", &[("color", "white"), ("type", "queen")], ""),
    ("pawngen", &[("white-pawn-locations", "b2"), ("black-pawn-locations", "")], ""),
    ("futurebase", &[("filename", "kk.htb")], ""),
    ("prune", &[("color", "white"), ("move", "P*"), ("type", "discard")], ""),
    ("output", &[("filename", "x.htb")], ""),
    ("enable-proptables", &[("MB", "1")], ""),
    ("generation-controls", &[], "<output filename='x.htb'/>"),
    ("tablebase-statistics", &[], "<indices>462</indices>"),
    ("generation-statistics", &[], "<pass type='intratable'/>"),
    ("entries-format", &[("any", "1")], "<thing/>"),
    ("proptable-format", &[("bits", "16")], ""),
    ("url-prefix", &[], "http://example.org/"),
    ("completion-report", &[("url", "mailto:x")], ""),
    ("error-report", &[], ""),
];

/// The elements that programs write or wrote: what is in them does not matter.
const OPAQUE: [&str; 7] = [
    "tablebase-statistics",
    "generation-statistics",
    "entries-format",
    "proptable-format",
    "url-prefix",
    "completion-report",
    "error-report",
];

/// Attributes that the parser knows in order to refuse them with good advice, and one nobody knows.
const NOT_ALLOWED: [&str; 3] = ["index-ordering", "pawngen-condition", "wizard"];

/// The attributes of each element in the schema: their enumerated values, or nothing for free text.
type Vocabulary = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Walks the schema, outside of what stands for any element.
fn vocabulary() -> Vocabulary {
    let text = schema();
    let document = Document::parse(&text).unwrap();
    let mut found = Vocabulary::new();
    for element in document.descendants().filter(|n| is_rule(n, "element")) {
        let own = element.attribute("name");
        let class = rules(element).find(|n| own.is_none() && is_rule(n, "choice"));
        let names = class.into_iter().flat_map(rules).filter_map(|n| n.text()).map(str::trim);
        let names: Vec<&str> = own.into_iter().chain(names).collect();
        for name in names {
            collect(element, found.entry(name.to_owned()).or_default());
        }
    }
    found
}

fn schema() -> String {
    page("control-files.rng")
}

/// Collects the attributes of an element, not those of elements inside.
fn collect<'a>(node: Node<'a, 'a>, found: &mut BTreeMap<String, BTreeSet<String>>) {
    for child in rules(node) {
        match child.tag_name().name() {
            "ref" => collect(definition(child), found),
            "attribute" => {
                if let Some(name) = child.attribute("name") {
                    collect_values(child, found.entry(name.to_owned()).or_default());
                }
            }
            "element" => {}
            _ => collect(child, found),
        }
    }
}

/// Collects the words that an attribute may have.
fn collect_values<'a>(node: Node<'a, 'a>, found: &mut BTreeSet<String>) {
    for child in rules(node) {
        match child.tag_name().name() {
            "ref" => collect_values(definition(child), found),
            "value" => drop(found.insert(child.text().unwrap().to_owned())),
            "except" => {}
            _ => collect_values(child, found),
        }
    }
}

/// An element with these attributes.
fn written(name: &str, attributes: &[(&str, &str)], content: &str) -> String {
    let list: Vec<String> =
        attributes.iter().map(|(name, value)| format!("{name}='{value}'")).collect();
    format!("<{name} {}>{content}</{name}>", list.join(" "))
}

/// A control file around an element.
fn file_around(name: &str, element: &str) -> String {
    match name {
        "tablebase" => element.to_owned(),
        "proptable-format" | "url-prefix" | "completion-report" | "error-report" => {
            let inside = format!("<generation-controls>{element}</generation-controls>");
            format!("<tablebase>{KINGS}{inside}</tablebase>")
        }
        _ => format!("<tablebase>{KINGS}{element}</tablebase>"),
    }
}

/// Expects the same judgement of the schema and of the parser.
#[track_caller]
fn expect_agreement(rules: &str, text: &str) {
    match (parse(text), complaint(rules, text)) {
        (Ok(_), None) | (Err(_), Some(_)) => {}
        (Ok(_), Some(complaint)) => panic!("only the schema refuses it: {complaint}\n{text}"),
        (Err(error), None) => panic!("only the parser refuses it: {error}\n{text}"),
    }
}

#[test]
fn the_schema_has_the_elements_of_the_parser() {
    let vocabulary = vocabulary();
    let elements: BTreeSet<&str> = vocabulary.keys().map(String::as_str).collect();
    assert_eq!(elements, SAMPLES.iter().map(|sample| sample.0).collect());
    for (name, attributes, content) in SAMPLES {
        let text = file_around(name, &written(name, attributes, content));
        if let Err(error) = parse(&text) {
            panic!("{error}");
        }
    }
    let wizard = file_around("wizard", "<wizard/>");
    assert!(matches!(parse(&wizard), Err(ControlError::UnknownElement { .. })));
}

#[test]
fn the_schema_has_the_attributes_and_words_of_the_parser() {
    let rules = &schema();
    let vocabulary = vocabulary();
    let all: BTreeSet<&str> =
        vocabulary.values().flat_map(|a| a.keys().map(String::as_str)).collect();
    assert!(all.len() > 25, "{all:?}");
    let mut compared = 0;
    for (name, required, content) in SAMPLES.into_iter().filter(|s| !OPAQUE.contains(&s.0)) {
        let known = &vocabulary[name];
        let file = |attribute: &str, value: &str| {
            let mut attributes = required.to_vec();
            attributes.retain(|&(name, _)| name != attribute);
            attributes.push((attribute, value));
            file_around(name, &written(name, &attributes, content))
        };
        for attribute in all.iter().copied().chain(NOT_ALLOWED) {
            let Some(words) = known.get(attribute) else {
                let text = file(attribute, "1");
                let error = parse(&text).unwrap_err();
                let refused = matches!(
                    error,
                    ControlError::UnknownAttribute { .. }
                        | ControlError::NoLongerSupported { .. }
                        | ControlError::ConditionNotExpanded { .. }
                );
                assert!(refused, "{error}\n{text}");
                assert!(complaint(rules, &text).is_some(), "{text}");
                continue;
            };
            for word in words {
                expect_agreement(rules, &file(attribute, word));
            }
            match parse(&file(attribute, "?")) {
                // The words in the message are those of the parser's own table.
                Err(ControlError::BadValue { allowed, .. }) if !allowed.contains("number") => {
                    let allowed: BTreeSet<&str> = allowed.split(", ").collect();
                    let words = words.iter().map(String::as_str);
                    // An old name that the message does not recommend.
                    assert_eq!(
                        allowed,
                        words.filter(|&w| w != "pawngen").collect(),
                        "{name} {attribute}"
                    );
                    compared += 1;
                }
                _ => assert!(words.is_empty(), "{name} {attribute}: {words:?}"),
            }
            expect_agreement(rules, &file(attribute, "?"));
        }
        for &(dropped, _) in required {
            let rest: Vec<_> = required.iter().copied().filter(|a| a.0 != dropped).collect();
            let text = file_around(name, &written(name, &rest, content));
            // Whether an output is named is only asked when there is no other name.
            if name == "output" {
                assert!(
                    complaint(rules, &text).is_some()
                        && parse(&text).unwrap().output_name().is_err()
                );
            } else {
                expect_agreement(rules, &text);
            }
        }
    }
    assert!(compared >= 15, "only {compared} lists of words were compared");
}

#[test]
fn elements_may_stand_where_the_parser_has_them() {
    let rules = &schema();
    let elements = SAMPLES.map(|(name, attributes, content)| written(name, attributes, content));
    for (name, required, _) in SAMPLES.into_iter().filter(|s| !OPAQUE.contains(&s.0)) {
        for inside in &elements {
            let mut content = inside.clone();
            if name == "tablebase" {
                content.push_str(KINGS);
            }
            expect_agreement(rules, &file_around(name, &written(name, required, &content)));
        }
        let stray = written(
            name,
            required,
            &format!("{}stray", if name == "format" { "<dtm/>" } else { "" }),
        );
        expect_agreement(rules, &file_around(name, &stray));
    }
    // Twice, and every two of them together in either order.
    for first in elements.iter().skip(1) {
        for second in elements.iter().skip(1) {
            let text = format!("<tablebase>{first}{KINGS}{second}</tablebase>");
            expect_agreement(rules, &text);
            let text = format!(
                "<tablebase index='naive' format='one-byte-dtm'>{KINGS}{first}</tablebase>"
            );
            // Whether attribute and element say the same is beyond a schema.
            if !matches!(parse(&text), Err(ControlError::Duplicate { .. })) {
                expect_agreement(rules, &text);
            }
        }
    }
}

/// Parts of control files that are wrong in structure.
const WRONG: [&str; 25] = [
    "<piece color='white' type='rook' location='a9'/>",
    "<piece color='white' type='rook' location='a1,a2'/>",
    "<piece color='white' type='rook' location='a1+'/>",
    "<piece color='white' type='pawn' location='a1 a2'/>",
    "<piece color='white' type='pawn' location='a2 b2+'/>",
    "<pawngen white-pawn-locations='a2;b2' black-pawn-locations=''/>",
    "<pawngen white-pawn-locations='a2+' black-pawn-locations=''/>",
    "<pawngen white-pawn-locations='a2' black-pawn-locations='' white-pawns-required='-1'/>",
    "<dtm bits='many'/>",
    "<dtm bits='0'/>",
    "<dtc bits='17'/>",
    "<index type='naive' symmetry='3'/>",
    "<index type='naive' symmetry='4-way'/>",
    "<index type='no-en-passant'/>",
    "<index type='standard'/>",
    "<index type='combinadic'/>",
    "<format/>",
    "<format><dtm/><basic/></format>",
    "<dtm/><basic/>",
    "<futurebase url='http://example.org/kk.htb'/>",
    "<futurebase url=''/>",
    "<futurebase filename=''/>",
    "<prune color='white' move='stalemate' type='discard'/>",
    "<enable-proptables MB='lots'/>",
    "<output filename='a.htb'/><generation-controls><output filename='b.htb'/></generation-controls>",
];

/// Parts of control files that look odd and are right.
const RIGHT: [&str; 10] = [
    "<piece color='white' type='rook' location='a1a2  a3 '/>",
    "<piece color='white' type='pawn' location='b2+ c3'/>",
    "<piece color='white' type='rook' location=''/>",
    "<dtm bits='0x8'/>",
    "<prune color='white' move='stalemate' type='concede'/>",
    "<output url='a.htb'/>",
    "<futurebase url='kk.htb'/>",
    "<futurebase url='kk.htb' type='capture'/>",
    "<generation-controls><output url='a'/><entries-format/><url-prefix/></generation-controls>",
    "<generation-controls><enable-proptables MB='0x10'/></generation-controls><output filename='a'/>",
];

fn with_kings(inside: &str) -> String {
    format!("<tablebase>{KINGS}{inside}</tablebase>")
}

#[test]
fn what_is_structurally_wrong_is_refused() {
    let rules = &schema();
    for text in WRONG.map(with_kings) {
        assert!(parse(&text).is_err() && complaint(rules, &text).is_some(), "{text}");
    }
    for text in RIGHT.map(with_kings) {
        assert!(parse(&text).is_ok() && complaint(rules, &text).is_none(), "{text}");
    }
}

/// Whether another program reads the schema as our tests do.
#[test]
fn xmllint_agrees() {
    if Command::new("xmllint").arg("--version").output().is_err() {
        eprintln!("**** SKIPPED: xmllint is not installed ****");
        return;
    }
    let rules = &schema();
    let examples = files(&root().join("examples"));
    let examples = examples.iter().map(|path| fs::read_to_string(path).unwrap());
    let texts = WRONG.map(with_kings).into_iter().chain(RIGHT.map(with_kings)).chain(examples);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("xmllint");
    fs::create_dir_all(&folder).unwrap();
    for (number, text) in texts.enumerate() {
        // The document type is not there to be loaded.
        let text =
            text.lines().filter(|l| !l.starts_with("<!DOCTYPE")).collect::<Vec<_>>().join("\n");
        let path = folder.join(format!("{number}.xml"));
        fs::write(&path, &text).unwrap();
        let run = Command::new("xmllint")
            .args(["--noout", "--relaxng"])
            .arg(root().join("docs/control-files.rng"))
            .arg(&path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.success(), complaint(rules, &text).is_none(), "{said}{text}");
    }
}

/// The compact notation is converted by a program that is not always there: at least the same
/// names, words and patterns stand in both, in the same order.
#[test]
fn both_notations_have_the_same_words() {
    let text = schema();
    let document = Document::parse(&text).unwrap();
    let mut long = Vec::new();
    for node in document.descendants().filter(|n| is_rule(n, n.tag_name().name())) {
        let content = || node.text().unwrap_or_default().trim().to_owned();
        match node.tag_name().name() {
            "element" | "attribute" => long.extend(node.attribute("name").map(str::to_owned)),
            "name" | "value" | "param" => long.push(content()),
            _ => {}
        }
    }
    let mut short = Vec::new();
    let compact = page("control-files.rnc");
    let lines = compact.lines().filter(|l| !l.trim_start().starts_with(['#', 'd']));
    for line in lines {
        let mut quoted = false;
        for part in line.split('"') {
            if quoted {
                short.push(part.to_owned());
            } else {
                let words: Vec<&str> =
                    part.split_whitespace().map(|w| w.trim_start_matches('(')).collect();
                for pair in words.windows(2).filter(|w| ["element", "attribute"].contains(&w[0])) {
                    short.push(pair[1].to_owned());
                }
                if let [.., "element", _, "|", other, "{"] = words[..] {
                    short.push(other.to_owned());
                }
            }
            quoted = !quoted;
        }
    }
    short.retain(|word| word != "*");
    assert!(short.len() > 100);
    assert_eq!(short, long);
}

/// All control files directly in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "xml")).collect();
    files.sort();
    files
}

#[test]
fn the_examples_are_valid() {
    let rules = &schema();
    let files = files(&root().join("examples"));
    assert!(files.len() >= 7);
    for path in files {
        let complaint = complaint(rules, &fs::read_to_string(&path).unwrap());
        assert_eq!(complaint, None, "{}", path.display());
    }
}

/// The files of the collection of invalid ones that are wrong in structure; the others are wrong in
/// what they mean.
const STRUCTURE: [&str; 18] = [
    "bad-colour",
    "dtm-bits-text",
    "index-combinadic",
    "index-standard",
    "location-bad",
    "location-comma",
    "malformed",
    "no-en-passant",
    "output-url",
    "pawn-rank1",
    "pawngen-and-pawn",
    "pawngen-condition",
    "pawngen-location",
    "stalemate-discard",
    "symmetry-three",
    "two-formats2",
    "unknown-element",
    "variant-unknown",
];

#[test]
fn the_shared_control_files_are_judged_rightly() {
    let default = root().join("../shared");
    let shared = std::env::var_os("HOFFMAN_SHARED").map_or(default, PathBuf::from);
    let controls = shared.join("spec/controls");
    if !controls.is_dir() {
        eprintln!("**** SKIPPED: no files at {}; set HOFFMAN_SHARED ****", controls.display());
        return;
    }
    let rules = &schema();
    let complaint = |path: &Path| complaint(rules, &fs::read_to_string(path).unwrap());
    let mut valid = files(&controls);
    valid.extend(files(&controls.join("fort-sound")));
    assert_eq!(valid.len(), 83);
    for path in valid {
        // The one file that the original took wrongly.
        let expected = path.ends_with("two-formats.xml");
        assert_eq!(
            complaint(&path).is_some(),
            expected,
            "{}: {:?}",
            path.display(),
            complaint(&path)
        );
    }
    let invalid = files(&controls.join("invalid"));
    assert_eq!(invalid.len(), 67);
    let refused: Vec<String> = invalid
        .iter()
        .filter(|path| complaint(path).is_some())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(refused, STRUCTURE);
}
