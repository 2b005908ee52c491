//! Made-up values, so that files can be written without a solver.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;

use hoffman_hbf::{
    Code, Color, Crew, DRAW, EncodeOptions, HbfFile, Kind, Man, Material, Position, Source,
    Tablebase, Texts, Value, WorkerThreads, before, code_of, encode_ending, exits,
};

/// Values that are much like those nearby, the same for mirror images, and never worse than an
/// exit.
pub struct MadeUp {
    /// What distances are multiplied with.
    pub scale: u16,
}

pub fn turned(square: u8, symmetry: u8) -> u8 {
    let square = square ^ if symmetry & 1 != 0 { 7 } else { 0 };
    let square = square ^ if symmetry & 2 != 0 { 56 } else { 0 };
    if symmetry & 4 != 0 { square >> 3 | (square & 7) << 3 } else { square }
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (number ^ number >> 32).wrapping_mul(0x94d0_49bb_1331_11eb)
}

impl MadeUp {
    fn own_code(&self, position: &Position) -> Code {
        let material = Material::of(position);
        let swapped = material.swapped();
        let names = (material.to_string(), swapped.to_string());
        let swap = names.0 < names.1 || material == swapped && position.turn == Color::Black;
        let position = if swap { position.swapped() } else { *position };
        let symmetries = if material.has_pawns() { 2 } else { 8 };
        let mut sum = 0_u64;
        for symmetry in 0..symmetries {
            let mut image = 0_u64;
            for (square, man) in position.men() {
                let kind = man.kind as u64 * 2 + man.color as u64;
                // Addition, as like men may come in any order.
                image = image
                    .wrapping_add(mixed(kind << 8 | u64::from(turned(square, symmetry)) | 1 << 40));
            }
            sum = sum.wrapping_add(mixed(image ^ position.turn as u64));
        }
        let near: u32 = position
            .men()
            .map(|(square, man)| {
                let to_edge = |line: u8| u32::from(line.min(7 - line));
                (to_edge(square & 7) + to_edge(square >> 3)) * (1 + man.kind as u32)
            })
            .sum();
        // Mostly what the squares say, sometimes something else.
        let noise = if sum.is_multiple_of(11) { mixed(sum) % 90 } else { 0 };
        let moves = (near as u16 / 3 + noise as u16) * self.scale;
        match (near + u32::from(noise > 70) + position.turn as u32) % 16 {
            0..3 => DRAW,
            3..8 => code_of(Value::Loss(moves)),
            _ => code_of(Value::Win(moves + 1)),
        }
    }
}

impl Source for MadeUp {
    fn code(&self, position: &Position) -> Option<Code> {
        if position.occupied().count_ones() == 2 {
            return Some(DRAW);
        }
        let mut best = self.own_code(position);
        exits(position, |exit| {
            best = best.max(before(self.code(&exit.after).unwrap_or(DRAW)));
        });
        Some(best)
    }
}

pub fn ending(name: &str) -> Material {
    Material::parse(name).expect("an ending")
}

/// The file of an ending.
pub fn written(name: &str, source: &dyn Source, options: &EncodeOptions) -> Vec<u8> {
    written_by(1, name, source, options)
}

/// The same, by so many threads.
pub fn written_by(
    threads: usize,
    name: &str,
    source: &dyn Source,
    options: &EncodeOptions,
) -> Vec<u8> {
    let texts = Texts { info: Some("{}"), ..Texts::default() };
    let crew = Crew { workers: &WorkerThreads(threads), ..Crew::ALONE };
    encode_ending(&ending(name), source, options, texts, crew).expect("a table").0
}

pub fn write_to(folder: &Path, name: &str, source: &dyn Source, options: &EncodeOptions) {
    let path = folder.join(format!("{name}.hbf"));
    std::fs::write(path, written(name, source, options)).expect("a file");
}

pub fn opened(bytes: Vec<u8>) -> HbfFile {
    HbfFile::open(Box::new(bytes)).expect("a file")
}

pub fn tables(files: impl IntoIterator<Item = Vec<u8>>) -> Tablebase {
    let mut tables = Tablebase::new(1 << 20);
    for bytes in files {
        tables.add(opened(bytes)).expect("a table of cells");
    }
    tables
}

/// A legal position of an ending, in colours as they come; sometimes with a square that a pawn has
/// jumped over.
pub fn random_position(material: &Material, random: &mut fastrand::Rng) -> Position {
    loop {
        let turn = if random.bool() { Color::White } else { Color::Black };
        let mut position = Position::empty(turn);
        for color in [Color::White, Color::Black] {
            position.put(random.u8(0..64), Man { color, kind: Kind::King });
        }
        for &man in material.men() {
            position.put(random.u8(0..64), man);
        }
        if random.bool() {
            position = position.swapped();
        }
        let complete = position.occupied().count_ones() as usize == material.men().len() + 2;
        if !complete || !position.is_legal() {
            continue;
        }
        let (start, jumped) = if position.turn == Color::White { (48, 40) } else { (8, 16) };
        let pawns = position.of(Man { color: position.turn.other(), kind: Kind::Pawn });
        let file = random.u8(0..8);
        let landed = (start + 2 * jumped - 2 * start + file) & 63;
        let free = [start + file, jumped + file].iter().all(|&s| position.man(s).is_none());
        if pawns >> landed & 1 != 0 && free {
            position.en_passant = Some(jumped + file);
        }
        return position;
    }
}

fn word(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
}

fn put_checksum(bytes: &mut [u8], at: usize, of: std::ops::Range<usize>) {
    if let Some(content) = bytes.get(of) {
        let sum = crc32fast::hash(content).to_le_bytes();
        bytes[at..at + 4].copy_from_slice(&sum);
    }
}

/// Puts other content in the place of a section's, behind all others.
pub fn replace_section(bytes: &mut Vec<u8>, name: [u8; 4], change: impl FnOnce(&mut Vec<u8>)) {
    let rows = (0..word(bytes, 12)).map(|k| 32 + 32 * k);
    let row = rows.into_iter().find(|&row| bytes[row..row + 4] == name).expect("a section");
    let (start, length) = (word(bytes, row + 8), word(bytes, row + 16));
    let mut content = bytes[start..start + length].to_vec();
    change(&mut content);

    let end = bytes.split_off(bytes.len() - 8);
    let place = [bytes.len() as u64, content.len() as u64];
    bytes[row + 8..row + 24].copy_from_slice(&place.map(u64::to_le_bytes).concat());
    bytes.extend(content.into_iter().chain(end));
    let length = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    repair(bytes);
}

/// Makes all checksums right, from the inner ones to the outer ones.
pub fn repair(bytes: &mut [u8]) {
    let count = word(bytes, 12);
    for row in (0..count.min(256)).map(|k| 32 + 32 * k) {
        if row + 32 > bytes.len() || bytes[row..row + 4] != *b"DIRY" {
            continue;
        }
        let (start, length, data) =
            (word(bytes, row + 8), word(bytes, row + 16), word(bytes, row + 40));
        for at in (start..start + length.saturating_sub(12)).step_by(12) {
            let (from, to) = (data + word(bytes, at), data + word(bytes, at + 12));
            if at + 12 <= bytes.len() {
                put_checksum(bytes, at + 8, from..to);
            }
        }
    }
    for row in (0..count.min(256)).map(|k| 32 + 32 * k) {
        if row + 32 <= bytes.len() && bytes[row..row + 4] != *b"DATA" {
            let (start, length) = (word(bytes, row + 8), word(bytes, row + 16));
            put_checksum(bytes, row + 24, start..start.saturating_add(length));
        }
    }
    put_checksum(bytes, 24, 32..32 + 32 * count.min(1 << 20));
    put_checksum(bytes, 28, 0..28);
}
