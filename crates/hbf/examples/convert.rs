//! Writes `.hbf` tables from complete `.htb` ones, reads them back and compares, and says what they
//! take.
//!
//! `cargo run --release -p hoffman-hbf --example convert -- FOLDER OUT ENDING... [--rows N]
//! [--both] [--training N]`
//!
//! FOLDER has the `.htb` tables of the endings and of all behind their captures and promotions.
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use hoffman_board::Role;
use hoffman_hbf as hbf;
use hoffman_space::{PawnSquares, TableValues};
use hoffman_table::htb::SourceOptions;
use hoffman_table::rows::{Taking, Wanted, decode};
use hoffman_table::{Stop, Table};

/// Processor time, where the system tells; else time.
struct Clock(f64);

impl Clock {
    fn now() -> f64 {
        static START: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let spent = statistics.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        spent.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
    }

    fn start() -> Clock {
        Clock(Clock::now())
    }

    fn seconds(&self) -> f64 {
        Clock::now() - self.0
    }
}

/// Values of whole tables in memory.
struct Loaded {
    tables: HashMap<hbf::Material, TableValues>,
}

const KINDS: [(hbf::Kind, Role); 5] = [
    (hbf::Kind::Queen, Role::Queen),
    (hbf::Kind::Rook, Role::Rook),
    (hbf::Kind::Bishop, Role::Bishop),
    (hbf::Kind::Knight, Role::Knight),
    (hbf::Kind::Pawn, Role::Pawn),
];

fn material_of(values: &TableValues) -> Option<hbf::Material> {
    let men = values.material.men_in_naming_order().into_iter().filter_map(|(color, role)| {
        let (kind, _) = KINDS.into_iter().find(|&(_, other)| other == role)?;
        let color = match color {
            hoffman_board::Color::White => hbf::Color::White,
            hoffman_board::Color::Black => hbf::Color::Black,
        };
        Some(hbf::Man { color, kind })
    });
    hbf::Material::new(men)
}

impl Loaded {
    /// The tables of an ending and of all behind its exits.
    fn add(&mut self, folder: &Path, material: &hbf::Material) -> Result<(), Box<dyn Error>> {
        if material.men().is_empty() || self.find(material).is_some() {
            return Ok(());
        }
        let values = load(folder, material)?;
        self.tables.insert(material_of(&values).ok_or("men that are none")?, values);
        for (place, man) in material.men().iter().enumerate() {
            let mut rest = material.men().to_vec();
            rest.remove(place);
            self.add(folder, &hbf::Material::new(rest.clone()).ok_or("a king")?)?;
            if man.kind == hbf::Kind::Pawn {
                for (kind, _) in &KINDS[..4] {
                    let mut promoted = rest.clone();
                    promoted.push(hbf::Man { color: man.color, kind: *kind });
                    self.add(folder, &hbf::Material::new(promoted).ok_or("a king")?)?;
                }
            }
        }
        Ok(())
    }

    fn find(&self, material: &hbf::Material) -> Option<&TableValues> {
        self.tables.get(material).or_else(|| self.tables.get(&material.swapped()))
    }
}

fn load(folder: &Path, material: &hbf::Material) -> Result<TableValues, Box<dyn Error>> {
    for material in [material.clone(), material.swapped()] {
        let name = material.to_string().to_lowercase().replace('v', "");
        let path = folder.join(name + ".htb");
        if !path.exists() {
            continue;
        }
        let mut table = Table::open(&path, SourceOptions::default())?;
        table.check_length()?;
        let mut area = Vec::new();
        table.read_packed(&mut area)?;
        let stop = Stop::default();
        let wanted = Wanted::all();
        let codec = table.codec();
        return Ok(decode(table.space(), codec, &area, &wanted, Taking::Exactly, &stop)?);
    }
    Err(format!("there is no table of {material} in {}", folder.display()).into())
}

impl hbf::Source for Loaded {
    fn code(&self, position: &hbf::Position) -> Option<hbf::Code> {
        if position.occupied().count_ones() == 2 {
            return Some(hbf::DRAW);
        }
        let material = hbf::Material::of(position);
        let (values, position) = match self.tables.get(&material) {
            Some(values) => (values, *position),
            None => (self.tables.get(&material.swapped())?, position.swapped()),
        };
        let mut movers = [0; 8];
        (movers[0], movers[1]) =
            (position.king(hbf::Color::White)?, position.king(hbf::Color::Black)?);
        let mut count = 2;
        let squares = |color, kind| position.of(hbf::Man { color, kind });
        for color in [hbf::Color::White, hbf::Color::Black] {
            for (kind, _) in &KINDS[..4] {
                let mut set = squares(color, *kind);
                while set != 0 {
                    *movers.get_mut(count)? = set.trailing_zeros() as u8;
                    count += 1;
                    set &= set - 1;
                }
            }
        }
        let pawns = PawnSquares {
            white: squares(hbf::Color::White, hbf::Kind::Pawn),
            black: squares(hbf::Color::Black, hbf::Kind::Pawn),
        };
        let turn = match position.turn {
            hbf::Color::White => hoffman_board::Color::White,
            hbf::Color::Black => hoffman_board::Color::Black,
        };
        let right = position.en_passant;
        match values.value(&movers[..count], pawns, turn, right)? {
            hoffman_board::Value::Illegal => None,
            hoffman_board::Value::Draw => Some(hbf::DRAW),
            hoffman_board::Value::Win(moves) => Some(hbf::code_of(hbf::Value::Win(moves))),
            hoffman_board::Value::Loss(moves) => Some(hbf::code_of(hbf::Value::Loss(moves))),
        }
    }
}

struct Arguments {
    folder: PathBuf,
    out: PathBuf,
    endings: Vec<hbf::Material>,
    /// `.htb` files of any kind that are written by index.
    entries: Vec<PathBuf>,
    options: hbf::EncodeOptions,
    /// Only try samples.
    only_try: bool,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut options = hbf::EncodeOptions::default();
    let mut plain = Vec::new();
    let mut only_try = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|n| n.parse::<usize>().ok()).ok_or("a number");
        match word.as_str() {
            "--rows" => options.rows = number()? as u8,
            "--training" => options.training = number()?,
            "--both" => options.distances = hbf::Sides::Both,
            "--outcomes" => options.outcomes = hbf::Sides::Smaller,
            "--outcomes-both" => options.outcomes = hbf::Sides::Both,
            "--try" => only_try = true,
            "--plain" => options.tests = hbf::ModelTests::Plain,
            "--outcomes-only" => {
                options.distances = hbf::Sides::Neither;
                options.outcomes = hbf::Sides::Smaller;
            }
            "--alone" => options.exits = false,
            _ => plain.push(word),
        }
    }
    let mut plain = plain.into_iter();
    let (Some(folder), Some(out)) = (plain.next(), plain.next()) else {
        return Err("FOLDER OUT ENDING...".into());
    };
    let (entries, plain): (Vec<_>, Vec<_>) =
        plain.partition(|word| Path::new(word).extension().is_some_and(|e| e == "htb"));
    let entries = entries.into_iter().map(PathBuf::from).collect();
    let endings = plain.iter().map(|name| hbf::Material::parse(name).ok_or("no ending"));
    let endings = endings.collect::<Result<_, _>>()?;
    Ok(Arguments { folder: folder.into(), out: out.into(), endings, entries, options, only_try })
}

/// Writes the entries of any `.htb` by index, and compares all of them.
fn convert_entries(path: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut table = Table::open(path, SourceOptions::default())?;
    table.check_length()?;
    let (entries, bits) = (table.space().size(), table.codec().bits());
    let mut all = vec![0_i16; entries as usize];
    table.read_entries(0, &mut all)?;
    let mask = ((1_u32 << bits) - 1) as u16;
    let info = hbf::TableInfo {
        mode: hbf::Mode::Generic { entries, bits },
        suicide: table.variant() == hoffman_board::Variant::Suicide,
        metric: hbf::Metric::Mate,
        claims: hbf::Claims::new([false; 2], [false; 2]),
        longest_wins: [None; 2],
        longest_losses: [None; 2],
    };
    let entry_table = hbf::EntryTable { info, texts: hbf::Texts::default(), log: 14 };
    let start = Clock::start();
    let read = |first: u64, buffer: &mut [u16]| {
        let from = &all[first as usize..];
        buffer.iter_mut().zip(from).for_each(|(to, entry)| *to = *entry as u16 & mask);
        Ok(())
    };
    let bytes = hbf::encode_entries(&entry_table, read, hbf::Crew::ALONE)?;
    let encoded = start.seconds();
    let (length, start) = (bytes.len(), Clock::start());
    let name = path.with_extension("hbf");
    std::fs::write(out.join(name.file_name().ok_or("a name")?), &bytes)?;
    let file = hbf::HbfFile::open(Box::new(bytes))?;
    for first in (0..entries).step_by(1 << 14) {
        let found = file.entry_tile(first)?;
        let same = found.iter().zip(&all[first as usize..]).all(|(a, b)| *a == *b as u16 & mask);
        assert!(same, "entries from {first} on");
    }
    println!(
        "{}: {entries} entries of {bits} bits, {length} bytes by index, {:.0} ns an entry written, {:.0} ns read",
        path.display(),
        encoded * 1e9 / entries as f64,
        start.seconds() * 1e9 / entries as f64,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, out, endings, entries, options, only_try } = arguments()?;
    std::fs::create_dir_all(&out)?;
    for path in &entries {
        convert_entries(path, &out)?;
    }
    for material in &endings {
        let mut loaded = Loaded { tables: HashMap::new() };
        let start = Clock::start();
        loaded.add(&folder, material)?;
        println!("{material}: read in {:.1} s", start.seconds());
        if only_try {
            for trial in hbf::try_ending(material, &loaded, &options, &Clock::now)? {
                let order: String = trial.order.iter().map(|man| letter(*man)).collect();
                let [planned, source, encode, decode] = trial.times;
                println!(
                    "  {:?} {order}: {} bytes, {:.3} bits a position, leaves {:?}, model in {planned:.1} s, \
                     {source:.0} ns source, {encode:.0} ns encode, {decode:.0} ns decode",
                    trial.turn,
                    trial.bytes,
                    trial.bytes as f64 * 8.0 / trial.cells,
                    trial.leaves,
                );
            }
            continue;
        }
        let mut below: Vec<hbf::Material> = loaded.tables.keys().cloned().collect();
        // With both sides, so that exits are found in one step.
        below.retain(|other| other.men().len() < material.men().len().min(3));
        for other in &below {
            let path = out.join(format!("{other}.hbf"));
            if !path.exists() {
                let options = hbf::EncodeOptions { distances: hbf::Sides::Both, ..options.clone() };
                std::fs::write(
                    path,
                    hbf::encode_ending(
                        other,
                        &loaded,
                        &options,
                        hbf::Texts::default(),
                        hbf::Crew::ALONE,
                    )?
                    .0,
                )?;
            }
        }
        let start = Clock::start();
        let (bytes, reports) = hbf::encode_ending(
            material,
            &loaded,
            &options,
            hbf::Texts::default(),
            hbf::Crew::ALONE,
        )?;
        let time = start.seconds();
        let path = out.join(format!("{material}.hbf"));
        std::fs::write(&path, &bytes)?;
        looking_up(material, &loaded);
        describe(material, bytes.len(), &reports, time);
        measure(&out, material, &loaded)?;
    }
    Ok(())
}

/// How long the encoder waits for a value and its exits.
fn looking_up(material: &hbf::Material, loaded: &Loaded) {
    let mut random = fastrand::Rng::with_seed(8);
    let positions: Vec<_> = (0..100_000).map(|_| random_position(material, &mut random)).collect();
    let start = Clock::start();
    let mut sum = 0_u64;
    for position in &positions {
        let mut add = |position: &hbf::Position| {
            sum += u64::from(hbf::Source::code(loaded, position).unwrap_or(0));
        };
        add(position);
        hbf::exits(position, |exit| add(&exit.after));
    }
    let each = start.seconds() * 1e9 / positions.len() as f64;
    println!("{material}: a value and its exits take {each:.0} ns ({sum:x})");
}

fn describe(material: &hbf::Material, bytes: usize, reports: &[hbf::StreamReport], time: f64) {
    println!("{material}: {bytes} bytes, {time:.1} s of processor time");
    for report in reports {
        let [model, directory, data] = report.bytes;
        let all = (model + directory + data) as f64 * 8.0;
        let order: String = report.order.iter().map(|man| letter(*man)).collect();
        println!(
            "  {:?} {} {order}: {} legal, {:.1} % settled, model {model}, directory {directory}, data {data}, \
             {:.3} bits a legal position, leaves {:?}",
            report.turn,
            if report.outcomes { "outcomes" } else { "distances" },
            report.cells,
            100.0 * report.settled as f64 / report.cells as f64,
            all / report.cells as f64,
            report.leaves,
        );
    }
}

fn letter(man: hbf::Man) -> char {
    match man.color {
        hbf::Color::White => man.kind.letter(),
        hbf::Color::Black => man.kind.letter().to_ascii_lowercase(),
    }
}

/// A legal position of an ending.
fn random_position(material: &hbf::Material, random: &mut fastrand::Rng) -> hbf::Position {
    loop {
        let turn = if random.bool() { hbf::Color::White } else { hbf::Color::Black };
        let mut position = hbf::Position::empty(turn);
        for color in [hbf::Color::White, hbf::Color::Black] {
            position.put(random.u8(0..64), hbf::Man { color, kind: hbf::Kind::King });
        }
        for &man in material.men() {
            position.put(random.u8(0..64), man);
        }
        let all = position.occupied().count_ones() as usize == material.men().len() + 2;
        if all && position.is_legal() {
            return position;
        }
    }
}

/// Compares answers with the source, and says how long they take.
fn measure(out: &Path, material: &hbf::Material, loaded: &Loaded) -> Result<(), Box<dyn Error>> {
    let mut tables = hbf::Tablebase::new(64 << 20);
    tables.add_folder(out)?;
    let mut random = fastrand::Rng::with_seed(7);
    let positions: Vec<hbf::Position> =
        (0..20_000).map(|_| random_position(material, &mut random)).collect();
    let stored = tables.stored_side(material);
    let file =
        hbf::HbfFile::open(Box::new(std::fs::File::open(out.join(format!("{material}.hbf")))?))?;
    for only_stored in [true, false] {
        let asked: Vec<_> = positions
            .iter()
            .filter(|p| stored.is_none_or(|side| (p.turn == side) == only_stored))
            .take(if only_stored { 5000 } else { 500 })
            .collect();
        if asked.is_empty() {
            continue;
        }
        tables.clear_cache();
        let before = tables.counts();
        let start = Clock::start();
        let mut answered = 0;
        for position in &asked {
            match tables.probe(position) {
                Ok(found) => {
                    answered += 1;
                    let expected = hbf::Source::code(loaded, position);
                    assert_eq!(Some(found), expected, "{}", hbf::to_fen(position));
                }
                Err(hbf::ProbeError::NoTable(_)) => {}
                Err(problem) => return Err(problem.into()),
            }
        }
        let each = start.seconds() * 1e6 / asked.len() as f64;
        let decoded = tables.counts().decoded - before.decoded;
        println!(
            "  {} side: {answered} of {} positions answered and right, {each:.1} us each, {:.2} tiles",
            if only_stored { "stored" } else { "other" },
            asked.len(),
            decoded as f64 / asked.len() as f64,
        );
        if only_stored {
            let start = Clock::start();
            for position in &asked {
                hbf::stored_code(&file, position, false)?;
            }
            let each = start.seconds() * 1e6 / asked.len() as f64;
            println!("  one tile, cold, without exits: {each:.1} us");
        }
    }
    Ok(())
}
