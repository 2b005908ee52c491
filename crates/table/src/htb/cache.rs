//! A cache of inflated blocks for many tables and threads at once.
//!
//! It is cut into shards with a lock each, so that threads that find what they look for hardly
//! ever wait for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// The number of a source, and of a block in it.
type Key = (u64, u64);

/// Bytes of a shard at least: it has to hold some blocks.
const SHARD: usize = 8 << 20;

/// As many shards as are useful.
const SHARDS: usize = 64;

/// A cache is at least so large: the block that was used last is mostly used again.
const LEAST: usize = 1 << 20;

/// Inflated blocks up to a number of bytes. Share one among all tables that are open.
#[derive(Debug)]
pub struct BlockCache {
    next_source: AtomicU64,
    blocks: Cache<Key, Arc<[u8]>, BlockWeight>,
}

/// Blocks weigh what they hold.
#[derive(Clone, Debug)]
struct BlockWeight;

impl Weighter<Key, Arc<[u8]>> for BlockWeight {
    fn weight(&self, _: &Key, block: &Arc<[u8]>) -> u64 {
        block.len() as u64
    }
}

impl BlockCache {
    /// A cache of that many bytes, but at least a megabyte. Blocks that are larger than an eighth
    /// of it may not be kept.
    pub fn new(capacity: usize) -> Arc<BlockCache> {
        let capacity = capacity.max(LEAST);
        let shards = (capacity / SHARD).clamp(1, SHARDS).next_power_of_two();
        // Blocks have mostly half a megabyte, some less.
        let items = (capacity >> 18).max(16);
        let options = OptionsBuilder::new()
            .estimated_items_capacity(items)
            .weight_capacity(capacity as u64)
            .shards(shards)
            .build();
        let blocks = match options {
            Ok(options) => {
                let (hasher, life) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
                Cache::with_options(options, BlockWeight, hasher, life)
            }
            Err(_) => Cache::with_weighter(items, capacity as u64, BlockWeight),
        };
        Arc::new(BlockCache { next_source: AtomicU64::new(0), blocks })
    }

    /// Bytes held now.
    pub fn bytes(&self) -> usize {
        self.blocks.weight() as usize
    }

    pub(crate) fn new_source(&self) -> u64 {
        self.next_source.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn get(&self, source: u64, block: u64) -> Option<Arc<[u8]>> {
        self.blocks.get(&(source, block))
    }

    pub(crate) fn insert(&self, source: u64, block: u64, data: Arc<[u8]>) {
        self.blocks.insert((source, block), data);
    }

    /// Drops the blocks of a source that is closed.
    pub(crate) fn remove_source(&self, source: u64) {
        self.blocks.retain(|&(of, _), _| of != source);
    }
}
