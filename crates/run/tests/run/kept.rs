//! Tables that are there say the same as those that are in memory.

use std::path::Path;

use crate::common::{build_in, entries, workplace};
use hoffman_store::{Simulated, Storage as _};

/// Tables in which everything is drawn have one bit an entry, which does not tell illegal
/// positions.
#[test]
fn drawn_tables_are_read_right() {
    let storage = Simulated::default();
    let place = workplace(&storage, false);
    let endings = ["KRNvK", "KQBvK", "KBvKN"];
    build_in(&place, &endings).unwrap();
    for name in ["t/krnk.htb", "t/kqbk.htb", "t/kbkn.htb"] {
        let path = Path::new(name);
        let right = entries(&storage, path).unwrap();
        storage.remove(path).unwrap();
        assert_eq!(build_in(&place, &endings).unwrap(), 1);
        assert!(entries(&storage, path).unwrap() == right, "{name}");
    }
}
