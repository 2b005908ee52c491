//! What answers out of pruned and restricted tables claim, against chess without prunes by the
//! slow solver: no claim may be false, for any position, whichever tables lie beside.
//!
//! `HOFFMAN_RANDOM_SETS` says how many files, `HOFFMAN_RANDOM_FIRST` with which seed to begin,
//! `HOFFMAN_RANDOM_MEN` how many men there may be (3 or 4).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::{Color, Material, Outcome, OutcomeBounds, Role, Value, Variant};
use hoffman_control::{Claims, ControlFile, Ending, Strictness};
use hoffman_oracle::{
    PlacedMan, RandomAnalysis, RandomFile, SlowAnalysis, SlowPosition, SlowTables,
};
use hoffman_probe::collection::Collection;
use hoffman_probe::lines::{Bound, Category, Known, assess, ranked_moves};
use hoffman_probe::lookup::Hit;
use hoffman_probe::position::Position as Asked;
use hoffman_probe::report::report_position;
use hoffman_probe::words::known_in_words;
use hoffman_run::{RunOptions, Silent, Workplace, generate};

use crate::{from_env, placed_in};

/// How many files are looked at every day.
const DAILY: u64 = 300;

/// One position in so many is answered in full, with its moves.
const THOROUGH: u64 = 97;

/// Chess without prunes, and suicide chess, solved when asked for.
#[derive(Default)]
struct Truth {
    chess: SlowTables,
    suicide: HashMap<Material, Arc<SlowAnalysis>>,
}

impl Truth {
    /// Whether these men are few enough: every day three, and two endings of four.
    fn can_solve(variant: Variant, material: &Material) -> bool {
        let many = from_env("HOFFMAN_RANDOM_MEN", 3) as usize;
        let four = ["KRvKN", "KBvKN"].map(|name| name.parse::<Material>().unwrap());
        match variant {
            Variant::Normal => material.men() <= many || four.contains(&material.normalized().0),
            Variant::Suicide => material.men() < many,
        }
    }

    fn solve(&mut self, variant: Variant, material: &Material) {
        match variant {
            Variant::Normal => drop(self.chess.solve(material).unwrap()),
            Variant::Suicide => drop(self.suicide(&material.normalized().0)),
        }
    }

    fn suicide(&mut self, material: &Material) -> Arc<SlowAnalysis> {
        if let Some(solved) = self.suicide.get(material) {
            return Arc::clone(solved);
        }
        let letters = |color: Color| -> String {
            let roles =
                [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
            let count = |role| usize::from(*material.count.get(color).get(role));
            roles.into_iter().map(|role| role.char().to_string().repeat(count(role))).collect()
        };
        let name = format!("{}v{}", letters(Color::White), letters(Color::Black));
        let ending: Ending = name.parse().unwrap();
        let mut behind = HashMap::new();
        for other in ending.with_dependencies().unwrap().into_iter().skip(1) {
            let name = other.to_string();
            let material = suicide_material(&name);
            behind.insert(format!("{name}.htb"), self.suicide(&material));
        }
        let text = ending.control_text().unwrap();
        let control = ControlFile::parse(&text, &name, Strictness::Control).unwrap();
        let solved = Arc::new(SlowAnalysis::solve(&control, &behind).unwrap());
        self.suicide.insert(*material, Arc::clone(&solved));
        solved
    }

    /// The value of a position for the side to move; none if its ending has not been solved.
    fn value(&self, variant: Variant, position: &Asked) -> Option<Value> {
        if variant == Variant::Normal {
            return self.chess.value(&slow(position));
        }
        let (material, swapped) = position.material().normalized();
        let solved = self.suicide.get(&material)?;
        let seen = if swapped { position.mirrored() } else { position.clone() };
        solved.value(&slow(&seen))
    }
}

fn suicide_material(name: &str) -> Material {
    let (white, black) = name.split_once('v').unwrap();
    let men = |text: &str, color: Color| -> Vec<_> {
        text.chars().map(|c| (color, Role::from_char(c).unwrap())).collect()
    };
    Material::from_men(men(white, Color::White).into_iter().chain(men(black, Color::Black)))
}

fn slow(position: &Asked) -> SlowPosition {
    let men = position.men().map(|(square, color, role)| PlacedMan { color, role, square });
    SlowPosition { men: men.collect(), turn: position.turn, en_passant: position.en_passant }
}

/// The winner; none of what is no position.
fn outcome(value: Value, turn: Color) -> Option<Outcome> {
    match value {
        Value::Illegal => None,
        Value::Draw => Some(Outcome::Draw),
        Value::Win(_) => Some(Outcome::won_by(turn)),
        Value::Loss(_) => Some(Outcome::won_by(turn.other())),
    }
}

fn contains(bounds: OutcomeBounds, outcome: Outcome) -> bool {
    bounds.least <= outcome && outcome <= bounds.most
}

/// What claims were met.
#[derive(Debug, Default)]
struct Met {
    files: u64,
    positions: u64,
    wins: u64,
    held: u64,
    nothing: u64,
    exact: u64,
    moves: u64,
}

/// One claim against the truth; what is wrong with it.
fn check_known(known: &Known, truth: Value, variant: Variant) -> Result<(), String> {
    let Some(result) = outcome(truth, known.turn) else { return Ok(()) };
    let said = known_in_words(known, 0);
    let wrong = |what: &str| Err(format!("{what}, but it is {truth:?}: {said}, {known:?}"));
    if !contains(known.proved, result) {
        return wrong("the bounds are false");
    }
    let by_side = |outcome: Outcome| match outcome.winner() {
        None => Category::Draw,
        Some(winner) if winner == known.turn => Category::Win,
        Some(_) => Category::Loss,
    };
    let category = known.category();
    let claims = matches!(category, Category::Win | Category::Draw | Category::Loss);
    if claims && category != by_side(result) {
        return wrong("the category is false");
    }
    let words_are_true = match said.split([',', '(']).next().unwrap_or_default().trim() {
        "White wins" | "Checkmate: White has won" | "White has won" => result == Outcome::WhiteWins,
        "Black wins" | "Checkmate: Black has won" | "Black has won" => result == Outcome::BlackWins,
        "Draw" | "Draw by stalemate" => result == Outcome::Draw,
        "White at least draws" => result >= Outcome::Draw,
        "Black at least draws" => result <= Outcome::Draw,
        "Unknown" => true,
        other => return wrong(&format!("'{other}' are no words that can be judged")),
    };
    if !words_are_true {
        return wrong("the words are false");
    }
    check_distance(known, truth, variant).or_else(|what| wrong(&what))
}

/// Distances to mate: exact where that is claimed, else the most that a certain win takes.
fn check_distance(known: &Known, truth: Value, variant: Variant) -> Result<(), String> {
    let (Some(said), false) = (known.distance(), known.counts_conversions()) else { return Ok(()) };
    let (Some(said), Some(plies)) = (said.plies(), truth.plies()) else { return Ok(()) };
    match known.bound() {
        // The slow solver of suicide chess counts as tables do.
        Bound::Exact if said != plies => Err(format!("{said} plies are said to be exact")),
        Bound::WhiteAtLeast | Bound::WhiteAtMost
            if known.proved.known().is_some() && plies.abs() > said.abs() =>
        {
            Err(format!("at most {said} plies are said ({variant:?})"))
        }
        _ => Ok(()),
    }
}

/// Every position of a table, as tables in these collections answer it.
fn check_table(
    path: &Path,
    collections: &[Collection],
    truth: &mut Truth,
    met: &mut Met,
) -> Result<(), String> {
    let alone = Collection::open([path]).map_err(|e| e.to_string())?;
    let table = alone.tables().next().unwrap();
    let variant = table.variant();
    let material = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    truth.solve(variant, &material);
    // What a table by the original program, which puts down nothing, is taken for.
    let mut unrecorded = table.control().clone();
    unrecorded.instruction = None;
    let header = Claims::of_header(&unrecorded);
    let header = if table.space().has_side_bit() { header } else { header.and(header.swapped()) };

    for index in 0..table.space().size() {
        let Some(placement) = table.space().decode(index) else { continue };
        let men = table.pieces().iter().zip(&placement.squares).map(|(p, &s)| (s, p.color, p.role));
        let position =
            Asked::from_men(men, placement.turn, placement.en_passant).without_useless_en_passant();
        if position.check_possible(variant).is_err() {
            continue;
        }
        let Some(value) = truth.value(variant, &position) else {
            return Err(format!("{position:?} is not solved"));
        };
        let Some(result) = outcome(value, position.turn) else { continue };
        let fail = |problem: String| format!("{position:?} ({}): {problem}", path.display());
        met.positions += 1;

        let hit = alone.lookup(&position).map_err(|e| e.to_string())?;
        if let Some(hit) = &hit {
            check_hit(hit, header, result, met).map_err(fail)?;
        }
        if !index.is_multiple_of(THOROUGH) {
            continue;
        }
        for collection in std::iter::once(&alone).chain(collections) {
            for asked in [position.clone(), position.mirrored()] {
                check_answer(collection, &asked, truth, variant, met)
                    .map_err(|problem| fail(format!("{asked:?}: {problem}")))?;
            }
        }
    }
    Ok(())
}

/// The claim of a table on a position.
fn check_hit(hit: &Hit, header: Claims, result: Outcome, met: &mut Met) -> Result<(), String> {
    let proved = hit.proved();
    if !contains(proved, result) {
        return Err(format!("{result:?} is not in {proved:?}, {:?}", hit.claims));
    }
    if let Some(said) = hit.said().filter(|_| !hit.inverted)
        && !contains(header.prove(said), result)
    {
        return Err(format!("{result:?} is not in {said:?} by the header, {header:?}"));
    }
    match proved.known() {
        Some(_) if hit.claims.is_exact() => met.exact += 1,
        Some(_) => met.wins += 1,
        None if proved == OutcomeBounds::UNKNOWN => met.nothing += 1,
        None => met.held += 1,
    }
    Ok(())
}

/// The whole answer to a position, and to each of its moves.
fn check_answer(
    collection: &Collection,
    position: &Asked,
    truth: &Truth,
    variant: Variant,
    met: &mut Met,
) -> Result<(), String> {
    let text = |e: hoffman_probe::collection::CollectionError| e.to_string();
    let known = assess(collection, position).map_err(text)?;
    let value = truth.value(variant, position).ok_or("it is not solved")?;
    check_known(&known, value, variant)?;
    for option in ranked_moves(collection, position, &known) {
        if let Some(failure) = option.failure {
            return Err(failure.to_string());
        }
        met.moves += 1;
        // In suicide chess there is no table of a side without men.
        let Some(value) = truth.value(variant, &option.after) else { continue };
        check_known(&option.known, value, variant)
            .map_err(|problem| format!("{}: {problem}", option.m.uci()))?;
    }

    let report = report_position(collection, position).map_err(text)?;
    let category = report.verdict.category;
    let claimed = matches!(category, Category::Win | Category::Loss | Category::Draw);
    let expected = match outcome(value, position.turn).and_then(Outcome::winner) {
        None => Category::Draw,
        Some(winner) if winner == position.turn => Category::Win,
        Some(_) => Category::Loss,
    };
    if claimed && category != expected {
        return Err(format!("the report says {category:?}"));
    }
    let plies = report.verdict.dtm.or(report.verdict.dtw).filter(|&plies| plies != 0);
    if let (Some(plies), Some(true)) = (plies, value.plies().map(|n| n != 0))
        && Some(plies) != value.plies()
    {
        return Err(format!("the report says {plies} plies"));
    }
    Ok(())
}

/// Makes the tables of a set in a folder, and checks all answers.
fn carry_out(
    (folder, files): (&Path, &[RandomFile]),
    truth: &mut Truth,
    met: &mut Met,
) -> Result<(), String> {
    let mut made: Vec<PathBuf> = Vec::new();
    for file in files {
        let control = folder.join(&file.name);
        std::fs::write(&control, placed_in(folder, &file.text)).unwrap();
        let options = RunOptions::new(&Silent, Workplace::default());
        let generated = generate(&control, None, &options)
            .map_err(|error| format!("{} is refused: {error}", file.name))?;
        made.push(generated.path.unwrap());
    }
    // The whole folder, in both orders, as on the command line of the prompt.
    let forwards = Collection::open(&made).map_err(|e| e.to_string())?;
    let backwards = Collection::open(made.iter().rev()).map_err(|e| e.to_string())?;
    let together = [forwards, backwards];
    for path in &made {
        check_table(path, &together, truth, met)?;
        met.files += 1;
    }
    Ok(())
}

#[test]
fn no_claim_is_false() {
    let files = from_env("HOFFMAN_RANDOM_SETS", DAILY);
    let mut seed = from_env("HOFFMAN_RANDOM_FIRST", 0);
    let (mut truth, mut met) = (Truth::default(), Met::default());
    while met.files < files {
        let set = RandomAnalysis::small(seed, &Truth::can_solve);
        seed += 1;
        if !set.files.iter().any(|file| file.text.contains("<prune ")) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let result = carry_out((folder.path(), &set.files), &mut truth, &mut met);
        if let Err(problem) = result {
            let texts: Vec<_> = set.files.iter().map(|f| f.text.as_str()).collect();
            panic!("seed {}: {problem}\n{}", set.seed, texts.join("\n"));
        }
    }
    eprintln!("{met:?}");
    // Every kind of claim has been met often.
    for met in [met.exact, met.wins, met.held, met.nothing, met.moves] {
        assert!(met > files * 100, "too few: {met}");
    }
}
