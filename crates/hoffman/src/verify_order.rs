//! Which table of many is verified when: so that what several of them need is still in memory.

use std::path::{Path, PathBuf};

use hoffman_board::{Material, Role};
use hoffman_probe::reading::ReadOptions;
use hoffman_store::files;
use hoffman_table::Table;

use crate::error::Error;

/// Tables whose values are still there, about, when another one needs them.
const STILL_THERE: usize = 16;

/// A table of a folder.
#[derive(Clone, Debug)]
pub struct TableToVerify {
    /// The file.
    pub path: PathBuf,
    /// How many entries it has.
    pub entries: u64,
}

/// A table and its ending.
struct Listed {
    table: TableToVerify,
    ending: Material,
    /// The numbers of those behind its captures and promotions.
    behind: Vec<usize>,
    done: bool,
}

/// The tables of a folder, `.htb` and `.hbf`, in an order in which each is read as seldom as may
/// be when they are verified: those behind an ending come before it, and of the others the one next
/// of which most is there already.
///
/// # Errors
/// The folder cannot be read.
pub fn tables_to_verify(folder: &Path, reading: &ReadOptions) -> Result<Vec<TableToVerify>, Error> {
    let names = files().list(folder).map_err(|error| {
        Error::NotFound(format!("{}: the folder cannot be read: {error}", folder.display()))
    })?;
    let mut paths: Vec<PathBuf> = names.into_iter().map(|name| folder.join(name)).collect();
    paths.retain(|path| crate::Table::is_named(path));
    paths.sort();
    let mut listed = Vec::new();
    for path in paths {
        // What is wrong with one that cannot be opened is told when it is its turn.
        let (mut ending, mut entries) = (Material::bare_kings(), 0);
        if let Ok(table) = Table::open(&path, reading.source(0)) {
            let men = table.pieces().iter().map(|piece| (piece.color, piece.role));
            ending = Material::from_men(men).normalized().0;
            entries = table.space().size();
        }
        let table = TableToVerify { path, entries };
        listed.push(Listed { table, ending, behind: Vec::new(), done: false });
    }
    Ok(in_order(listed))
}

fn in_order(mut listed: Vec<Listed>) -> Vec<TableToVerify> {
    let pawns = |ending: &Material| {
        hoffman_board::Color::ALL.iter().map(|&c| *ending.count.get(c).get(Role::Pawn)).sum::<u8>()
    };
    listed.sort_by_key(|one| (one.ending.men(), pawns(&one.ending)));
    let endings: Vec<Material> = listed.iter().map(|one| one.ending).collect();
    for one in &mut listed {
        let exits = one.ending.exits().into_iter().map(|(_, behind)| behind.normalized().0);
        let numbers = exits.filter_map(|behind| endings.iter().position(|e| *e == behind));
        one.behind = numbers.collect();
        one.behind.sort_unstable();
        one.behind.dedup();
    }

    let mut order = Vec::new();
    // Without pawns an ending leads to small ones only; so it waits until another one needs it.
    let last = endings.last().map_or(0, Material::men);
    let is_due = |at: &usize| endings[*at].men() < last || pawns(&endings[*at]) > 0;
    while let Some(next) =
        next_of(&listed, &order, is_due).or_else(|| next_of(&listed, &order, |_| true))
    {
        add(&mut listed, next, &mut order);
    }
    order.into_iter().map(|at| listed[at].table.clone()).collect()
}

/// The one that is left of which fewest of those behind it are not there, the smaller ones first.
fn next_of(listed: &[Listed], order: &[usize], wanted: impl Fn(&usize) -> bool) -> Option<usize> {
    let there = &order[order.len().saturating_sub(STILL_THERE)..];
    let missing = |&at: &usize| {
        let of_men = listed[at].ending.men();
        let behind = listed[at].behind.iter();
        let large = behind.filter(|&&other| listed[other].ending.men() == of_men);
        (of_men, large.filter(|other| !there.contains(other)).count())
    };
    let left = (0..listed.len()).filter(|&at| !listed[at].done).filter(wanted);
    left.min_by_key(missing)
}

/// Adds a table behind those that it leads to.
fn add(listed: &mut [Listed], at: usize, order: &mut Vec<usize>) {
    if std::mem::replace(&mut listed[at].done, true) {
        return;
    }
    for other in listed[at].behind.clone() {
        add(listed, other, order);
    }
    order.push(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_table_comes_before_it() {
        let names = ["KRPvKR", "KRRvKR", "KRvKR", "KQRvKR", "KRvK", "KRBvKR", "KRNvKR", "KNNvKN"];
        let list = names.iter().map(|name| Listed {
            table: TableToVerify { path: PathBuf::from(name), entries: 1 },
            ending: name.parse::<Material>().expect("an ending").normalized().0,
            behind: Vec::new(),
            done: false,
        });
        let order = in_order(list.collect());
        let order: Vec<&str> = order.iter().filter_map(|one| one.path.to_str()).collect();
        assert_eq!(order[..2], ["KRvK", "KRvKR"]);
        assert_eq!(order[6..], ["KRPvKR", "KNNvKN"]);
        assert_eq!(order.len(), names.len());
    }
}
