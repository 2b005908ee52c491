//! Tables without a shared disk: files on web servers (`https://`), to be read by ranges, and in
//! buckets (`s3://`), to be read and written, behind the interface of the store.
//!
//! Addresses ([`address`]) lead to connections ([`servers`]), which wait for answers in a thread of
//! their own; files are read in units ([`file`]) that are held in memory ([`cache`]) and, if a
//! folder is named for it, on the disk ([`disk_cache`]); finished files are sent in parts
//! ([`upload`]). Knows nothing of what files hold.
#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links)]

mod address;
mod cache;
mod disk_cache;
mod failure;
mod file;
mod options;
mod servers;
mod storage;
mod upload;

pub use options::RemoteOptions;
pub use storage::Remote;
