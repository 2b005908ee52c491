//! Decoded tiles in the cache that all tables share.

use std::sync::Arc;

use hoffman_hbf::HbfError;

use crate::htb::BlockCache;

/// The tiles of a file.
#[derive(Debug)]
pub(super) struct Tiles {
    cache: Arc<BlockCache>,
    id: u64,
}

impl Tiles {
    pub(super) fn new(cache: Arc<BlockCache>) -> Tiles {
        let id = cache.new_source();
        Tiles { cache, id }
    }

    /// The number at a place of a tile, if it is in memory.
    pub(super) fn cached(&self, tile: u64, at: usize) -> Option<u16> {
        number_at(&self.cache.get(self.id, tile)?, at)
    }

    /// The same; if it is not there, `decode` makes the tile up to there, or all of it where it has
    /// been asked for before: other rows may follow.
    pub(super) fn number(
        &self,
        tile: u64,
        at: usize,
        decode: impl FnOnce(bool) -> Result<Vec<u16>, HbfError>,
    ) -> Result<Option<u16>, HbfError> {
        let cached = self.cache.get(self.id, tile);
        if let Some(number) = cached.as_ref().and_then(|bytes| number_at(bytes, at)) {
            return Ok(Some(number));
        }
        let bytes: Arc<[u8]> =
            decode(cached.is_some())?.iter().flat_map(|number| number.to_le_bytes()).collect();
        let number = number_at(&bytes, at);
        self.cache.insert(self.id, tile, bytes);
        Ok(number)
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.as_chunks::<2>().0.get(at).map(|bytes| u16::from_le_bytes(*bytes))
}

impl Drop for Tiles {
    fn drop(&mut self) {
        self.cache.remove_source(self.id);
    }
}
