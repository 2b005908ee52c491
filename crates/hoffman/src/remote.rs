//! Tables at addresses: on web servers (`https://`) and in buckets (`s3://`).

use std::sync::Arc;

use hoffman_remote::Remote;

pub use hoffman_remote::RemoteOptions;

/// Lets all names that are addresses be read and written, in the whole process. To be called once,
/// before the first table is asked for: what was said first counts. Nothing is started before an
/// address is used.
pub fn reach_addresses(options: RemoteOptions) {
    hoffman_store::reach_addresses_by(move || Ok(Arc::new(Remote::start(options.clone())?)));
}
