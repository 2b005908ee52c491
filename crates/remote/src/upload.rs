//! Sending a finished file to a bucket.

use std::io;
use std::path::Path;
use std::sync::Arc;

use hoffman_store::{Disk, Storage as _, StoredFile, fill};
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart};

use crate::address::Address;
use crate::file::ask_for;
use crate::servers::Servers;

/// The rules of S3 allow for ten thousand parts.
const MOST_PARTS: u64 = 9_000;

/// How many parts are on their way at once.
const AT_ONCE: usize = 2;

/// Sends a file. One of more than a part goes part by part, and the bucket has it when the last has
/// come: a transfer that breaks off is never seen.
///
/// # Errors
/// The file cannot be read or not be sent. Then what there was is there still.
pub(crate) fn send(
    servers: &Servers,
    source: &Path,
    target: &Address,
    part: usize,
) -> io::Result<()> {
    let file: Arc<dyn StoredFile> = Disk::shared().open(source)?.into();
    let len = file.byte_len()?;
    let part = part.max(usize::try_from(len.div_ceil(MOST_PARTS)).unwrap_or(part));
    let key = target.key.clone();
    if len <= part as u64 {
        let bytes = stretch(&*file, 0, len as usize)?;
        servers.ask(target, |store| async move {
            store.put(&key, PutPayload::from(bytes)).await.map(drop)
        })?;
    } else {
        servers
            .ask(target, move |store| async move { send_parts(store, key, file, part).await })?;
    }

    let sent = ask_for(servers, target)?.size;
    if sent == len {
        return Ok(());
    }
    Err(io::Error::other(format!("{sent} bytes of {len} have arrived")))
}

async fn send_parts(
    store: Arc<dyn ObjectStore>,
    key: object_store::path::Path,
    file: Arc<dyn StoredFile>,
    part: usize,
) -> object_store::Result<()> {
    let len = file.byte_len().map_err(local)?;
    let upload = store.put_multipart(&key).await?;
    let mut parts = WriteMultipart::new_with_chunk_size(upload, part);
    let mut at = 0;
    while at < len {
        if let Err(error) = parts.wait_for_capacity(AT_ONCE - 1).await {
            let _ = parts.abort().await;
            return Err(error);
        }
        let count = (len - at).min(part as u64) as usize;
        match stretch(&*file, at, count) {
            Ok(bytes) => parts.put(bytes.into()),
            Err(error) => {
                let _ = parts.abort().await;
                return Err(local(error));
            }
        }
        at += count as u64;
    }
    // It takes what has come away if it fails.
    parts.finish().await.map(drop)
}

/// So many bytes of a file.
fn stretch(file: &dyn StoredFile, at: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    if fill(file, &mut bytes, at)? { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn local(source: io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "disk", source: Box::new(source) }
}
