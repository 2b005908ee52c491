//! Two runs that want to make the same table.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::common::{build_in, entries, generate_in, promotion, workplace};
use hoffman_store::{Simulated, Storage as _, lock_name};

#[test]
fn a_run_takes_other_tables_and_then_waits() {
    let storage = Simulated::default();
    let place = workplace(&storage, false);
    let lock = storage.try_lock(&lock_name(Path::new("t/kqk.htb"))).unwrap().unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| build_in(&place, &["KQvK", "KRvK", "KBvK"]).unwrap());
        // It makes what it can.
        while !["t/krk.htb", "t/kbk.htb"]
            .iter()
            .all(|name| entries(&storage, Path::new(name)).is_ok())
        {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(200));
        assert!(!run.is_finished() && storage.contents(Path::new("t/kqk.htb")).is_none());
        drop(lock);
        assert_eq!(run.join().unwrap(), 4);
    });
    assert_eq!(storage.names().len(), 4);
}

#[test]
fn a_run_uses_what_another_one_made() {
    let storage = Simulated::default();
    let place = workplace(&storage, false);
    let made = Simulated::default();
    build_in(&workplace(&made, false), &["KQvK"]).unwrap();
    let lock = storage.try_lock(&lock_name(Path::new("t/kqk.htb"))).unwrap().unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| build_in(&place, &["KQvK", "KRvK"]).unwrap());
        while entries(&storage, Path::new("t/krk.htb")).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        let kqk = Path::new("t/kqk.htb");
        storage.put(kqk, &made.contents(kqk).unwrap());
        drop(lock);
        // Bare kings and the rook.
        assert_eq!(run.join().unwrap(), 2);
    });
    assert_eq!(storage.names().len(), 3);
}

#[test]
fn a_run_that_waits_can_be_stopped() {
    let storage = promotion();
    let place = workplace(&storage, false);
    let before = storage.names();
    let lock = storage.try_lock(&lock_name(Path::new("t/b7.htb"))).unwrap().unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| generate_in(&place).unwrap_err().to_string());
        thread::sleep(Duration::from_millis(100));
        assert!(!run.is_finished());
        place.stop.request();
        assert!(run.join().unwrap().starts_with("interrupted"));
    });
    drop(lock);
    assert_eq!(storage.names(), before);
}
