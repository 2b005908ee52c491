//! Locks and unfinished files of the real file system.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use hoffman_store::{Disk, Storage, lock_name, probe, read, read_stream, temporary_name, tidy};
use tempfile::TempDir;

#[test]
fn a_lock_has_one_holder_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(".x.lock");
    let (inside, entered) = (AtomicBool::new(false), AtomicU32::new(0));
    // Every holder removes the file, so that most attempts meet one that is about to go.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let disk = Disk::default();
                while entered.load(Ordering::SeqCst) < 2000 {
                    if let Some(lock) = disk.try_lock(&path).unwrap() {
                        assert!(!inside.swap(true, Ordering::SeqCst), "two hold the lock");
                        entered.fetch_add(1, Ordering::SeqCst);
                        inside.store(false, Ordering::SeqCst);
                        drop(lock);
                    }
                }
            });
        }
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_dead_processes_left_is_removed() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [
        ".a.htb.tmp-1",
        ".a.htb.tmp-1-2",
        ".a.htb.checkpoint.tmp-7",
        ".a.htb.lock",
        ".b.htb.tmp-1",
        ".b.htb.lock",
        ".hoffman.lock",
        ".c.xml.tmp-1",
        "a.htb",
        "a.htb.checkpoint",
    ] {
        fs::write(at(name), "").unwrap();
    }
    let names = || {
        let mut all: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        all.sort();
        all
    };
    let disk = Disk::default();
    // Another run is at work on b.
    let lock = disk.try_lock(&lock_name(&at("b.htb"))).unwrap().unwrap();
    tidy(&disk, folder.path(), None).unwrap();
    let left = [".b.htb.lock", ".b.htb.tmp-1", ".c.xml.tmp-1", "a.htb", "a.htb.checkpoint"];
    assert_eq!(names(), left);
    tidy(&disk, folder.path(), Some("b.htb".as_ref())).unwrap();
    drop(lock);
    assert_eq!(names(), [".c.xml.tmp-1", "a.htb", "a.htb.checkpoint"]);
    probe(&disk, folder.path()).unwrap();
    assert!(probe(&disk, &at("none")).is_err());
    assert_eq!(names().len(), 3);
}

#[test]
fn a_process_in_a_hurry_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let disk = Disk::default();
    let target = folder.path().join("a.htb");
    let temporary = temporary_name(&target, 0);
    let done = disk.create(&temporary).unwrap();
    done.write_at(b"whole", 0).unwrap();
    disk.rename(&temporary, &target).unwrap();
    let _unfinished = disk.create(&temporary).unwrap();
    let lock = disk.try_lock(&lock_name(&target)).unwrap().unwrap();
    disk.abandon();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(read(&disk, &target).unwrap(), b"whole");
    assert!(disk.create(&temporary).is_err() && disk.try_lock(&lock_name(&target)).is_err());
    drop(lock);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn pipes_are_streams_and_no_tables() {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe.htb");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Nothing writes to it: opening it would wait for ever.
    let (sender, receiver) = channel();
    let path = pipe.clone();
    thread::spawn(move || sender.send(Disk::default().open(&path).map(drop)));
    let refused = receiver.recv_timeout(Duration::from_secs(20)).expect("the pipe is waited for");
    assert!(refused.unwrap_err().to_string().contains("not an ordinary file"));
    assert!(Disk::default().open(folder.path()).unwrap_err().to_string().contains("a folder"));

    let path = pipe.clone();
    let writer = thread::spawn(move || fs::write(path, "12345"));
    assert_eq!(read_stream(&Disk::default(), &pipe, 5).unwrap(), b"12345");
    writer.join().unwrap().unwrap();
    let endless = read_stream(&Disk::default(), std::path::Path::new("/dev/zero"), 1000);
    assert_eq!(endless.unwrap_err().kind(), std::io::ErrorKind::FileTooLarge);
}
