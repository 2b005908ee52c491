//! Whatever `docs/control-files.md` shows is true.
//!
//! A block marked `xml` is a control file, or part of one, that is accepted without a remark; `xml
//! refused` and `xml noticed` are followed by a block with the message or the notices. Tables whose
//! first column is headed `pattern` say what prunes match.
#![allow(clippy::unwrap_used)]

mod common;

use common::{complaint, is_rule, page, parse, rules};
use hoffman_board::Bitboard;
use hoffman_control::{
    ControlError, ControlFile, Ending, PawnMasks, PrunePattern, check_declarations, check_pieces,
    resolve_pieces_with,
};
use roxmltree::Document;

/// A fenced block: the line it begins on, what it is marked as, and its text.
#[derive(Debug)]
struct Block {
    line: usize,
    mark: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if let Some(mark) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                let mark = mark.to_owned();
                blocks.push(Block { line: number + 1, mark, text: String::new() });
            }
        } else if inside {
            let block = blocks.last_mut().unwrap();
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!inside, "a block is not closed");
    blocks
}

/// The control file that an example stands for, the example beginning on its first line.
fn whole(example: &str) -> String {
    if example.starts_with("<?xml") || example.starts_with("<tablebase") {
        return example.to_owned();
    }
    let has = |names: &[&str]| names.iter().any(|name| example.contains(&format!("<{name}")));
    let format = if has(&["dtm", "dtc", "basic", "flag"]) { "" } else { "<dtm/>" };
    let output = if has(&["output"]) { "" } else { "<output filename='x.htb'/>" };
    // The kings come first, as the combinadic types need the white one there.
    let kings = if example.contains("type=\"king\"") {
        ""
    } else {
        "<piece color='white' type='king'/><piece color='black' type='king'/>"
    };
    format!("<tablebase>{kings}{}{format}{output}</tablebase>", example.trim_end())
}

/// All that is checked without other files.
fn check(text: &str) -> Result<ControlFile, ControlError> {
    let control = parse(text)?;
    control.output_name()?;
    let pawns = control.pawngen.as_ref().map(|pawngen| pawngen.white.pawns_required.is_some());
    if pawns != Some(false) {
        check_declarations(&control)?;
        let full = Bitboard(0x00FF_FFFF_FFFF_FF00);
        let masks = pawns.map(|_| PawnMasks { white: full, black: full });
        check_pieces(&control, &resolve_pieces_with(&control, masks)?)?;
    }
    Ok(control)
}

#[test]
fn the_examples_do_what_the_page_says() {
    let page = page("control-files.md");
    let blocks = blocks(&page);
    let schema = common::page("control-files.rng");
    let mut wrong = Vec::new();
    let mut counts = [0; 3];
    for (at, block) in blocks.iter().enumerate() {
        let said = || blocks.get(at + 1).filter(|b| b.mark == "text").map_or("", |b| b.text.trim());
        let text = whole(&block.text);
        let expected = match block.mark.as_str() {
            "xml" => "",
            "xml refused" | "xml noticed" => said(),
            "text" => continue,
            other => panic!("line {}: what is '{other}'?", block.line),
        };
        let (kind, happened) = match check(&text) {
            Ok(control) => {
                if let Some(complaint) = complaint(&schema, &text) {
                    wrong.push(format!("line {}: the schema says {complaint}", block.line));
                }
                let notices: Vec<&str> =
                    control.notices.iter().map(|n| n.message.as_str()).collect();
                (if notices.is_empty() { "xml" } else { "xml noticed" }, notices.join("\n"))
            }
            Err(error) => ("xml refused", error.to_string()),
        };
        counts[["xml", "xml noticed", "xml refused"].iter().position(|k| *k == kind).unwrap()] += 1;
        if kind != block.mark || happened != expected {
            wrong.push(format!("line {}: {kind}: {happened}", block.line));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(counts[0] > 25 && counts[1] > 1 && counts[2] > 18, "{counts:?}");
}

#[test]
fn the_file_of_an_ending_is_as_shown() {
    let page = page("control-files.md");
    let (_, rest) = page.split_once("What `kk-2x8` gives, below its first two lines:").unwrap();
    let (_, rest) = rest.split_once("```xml\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    let text = "kk-2x8".parse::<Ending>().unwrap().control_text().unwrap();
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(lines, shown.lines().collect::<Vec<_>>());
}

#[test]
fn the_table_of_patterns_is_true() {
    let page = page("control-files.md");
    let (_, table) =
        page.split_once("| pattern | matches | does not match |\n|---|---|---|\n").unwrap();
    let kinds = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut rows = 0;
    for row in table.lines().take_while(|line| line.starts_with('|')) {
        let cells: Vec<Vec<String>> = row.trim_matches('|').split('|').map(kinds).collect();
        let [pattern, yes, no] = cells.as_slice() else { panic!("{row}") };
        let [pattern] = pattern.as_slice() else { panic!("{row}") };
        let pattern = PrunePattern::new(pattern);
        assert!(!yes.is_empty(), "{row}");
        assert!(yes.iter().all(|kind| pattern.matches(kind)), "{row}");
        assert!(no.iter().all(|kind| !pattern.matches(kind)), "{row}");
        rows += 1;
    }
    assert!(rows >= 8);
}

/// What the schema knows, the page explains and shows.
#[test]
fn everything_is_explained() {
    let page = page("control-files.md");
    let schema = common::page("control-files.rng");
    let document = Document::parse(&schema).unwrap();
    let blocks = blocks(&page);
    let examples: String = blocks
        .iter()
        .filter(|b| b.mark == "xml" || b.mark == "xml noticed")
        .map(|b| b.text.as_str())
        .collect();
    let mut missing = Vec::new();
    let mut count = 0;
    let mut expect = |word: &str, example: String| {
        count += 1;
        if !page.contains(&format!("`{word}`")) {
            missing.push(format!("{word} is not explained"));
        }
        if !examples.contains(&example) {
            missing.push(format!("{word} is not shown"));
        }
    };
    for node in document.descendants() {
        let name = node.attribute("name");
        if is_rule(&node, "element") {
            let class = rules(node).find(|n| name.is_none() && is_rule(n, "choice"));
            let others = class.into_iter().flat_map(rules).filter_map(|n| n.text());
            for name in name.into_iter().chain(others) {
                expect(name, format!("<{name}"));
            }
        } else if let Some(name) = name.filter(|_| is_rule(&node, "attribute")) {
            expect(name, format!(" {name}=\""));
        }
    }
    assert!(count > 50, "{count}");
    // Words need not all be shown.
    for node in document.descendants().filter(|n| is_rule(n, "value")) {
        let word = node.text().unwrap();
        if !page.contains(&format!("`{word}`")) && !examples.contains(&format!("\"{word}\"")) {
            missing.push(format!("{word} is not explained"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
