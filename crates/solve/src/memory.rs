//! An allocator for large blocks: huge pages, and blocks that are used again.
//!
//! Solving touches hundreds of megabytes a table, once or twice each. With pages of 4 KiB the system
//! spends as long on page faults as the solver on chess: KRPvKR took 5 of 16 processor seconds there (see
//! `docs/performance.md`). Blocks from 32 KiB on are therefore cut from chunks that are advised to be huge
//! pages, kept by size when they are freed, and handed out again. Everything smaller, and every system
//! but Linux, is left to the standard allocator.
//!
//! A program opts in with `#[global_allocator] static ALLOCATOR: HugePages = HugePages;`.
#![allow(unsafe_code)]
// Blocks begin on boundaries of 32 KiB at least.
#![allow(clippy::cast_ptr_alignment)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The allocator. It has no state of its own: all instances share theirs.
#[derive(Clone, Copy, Debug, Default)]
pub struct HugePages;

/// From this size on.
const SMALLEST: usize = 32 << 10;

// SAFETY: sizes and alignments are passed on as they are, and a block is freed to where it came from,
// which its size alone decides (see `takes`).
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if takes(layout) {
            large::take(layout, false)
        } else {
            // SAFETY: the caller's layout.
            unsafe { System.alloc(layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if takes(layout) {
            large::take(layout, true)
        } else {
            // SAFETY: the caller's layout.
            unsafe { System.alloc_zeroed(layout) }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if takes(layout) {
            // SAFETY: `large::take` made the block for this layout.
            unsafe { large::give_back(block, layout) }
        } else {
            // SAFETY: the standard allocator made the block for this layout.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the new size is a valid one for the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if takes(layout) && takes(new) && large::room(layout) == large::room(new) {
            return block;
        }
        if !takes(layout) && !takes(new) {
            // SAFETY: the standard allocator made the block for this layout.
            return unsafe { System.realloc(block, layout, new_size) };
        }
        // SAFETY: a new block, at least `min` bytes long like the old one, which is then freed.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

/// Whether a layout is one for large blocks.
const fn takes(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= SMALLEST && layout.align() <= 4096
}

#[cfg(target_os = "linux")]
mod large {
    use std::alloc::Layout;
    use std::ptr::null_mut;
    use std::sync::{Mutex, PoisonError};

    use super::SMALLEST;

    /// The size of a huge page.
    const HUGE: usize = 2 << 20;
    /// Blocks up to this size are powers of two cut from chunks; larger ones are mapped one by one.
    const LARGEST_CUT: usize = 1 << 20;
    const CLASSES: usize = (LARGEST_CUT.ilog2() - SMALLEST.ilog2() + 1) as usize;
    /// How many mapped blocks, and how many bytes of them, are kept for later.
    const KEPT: usize = 64;
    const KEPT_BYTES: usize = 1 << 30;

    /// Free blocks of one size, linked through their first words, and what is left of a chunk.
    struct Class {
        free: *mut u8,
        chunk: *mut u8,
        left: usize,
    }

    // SAFETY: the pointers are to memory that only the holder of the lock uses.
    unsafe impl Send for Class {}

    struct Kept {
        blocks: [(*mut u8, usize); KEPT],
        len: usize,
        bytes: usize,
    }

    // SAFETY: as above.
    unsafe impl Send for Kept {}

    static CUT: [Mutex<Class>; CLASSES] =
        [const { Mutex::new(Class { free: null_mut(), chunk: null_mut(), left: 0 }) }; CLASSES];
    static MAPPED: Mutex<Kept> =
        Mutex::new(Kept { blocks: [(null_mut(), 0); KEPT], len: 0, bytes: 0 });

    /// The bytes really set aside for a layout.
    pub(super) const fn room(layout: Layout) -> usize {
        if layout.size() <= LARGEST_CUT {
            layout.size().next_power_of_two()
        } else {
            layout.size().next_multiple_of(HUGE)
        }
    }

    /// A block, or null if there is no memory.
    pub(super) fn take(layout: Layout, zeroed: bool) -> *mut u8 {
        let size = room(layout);
        let (block, clean) = if size <= LARGEST_CUT { cut(size) } else { mapped(size) };
        if zeroed && !clean && !block.is_null() {
            // SAFETY: the block is `size` bytes long, and nobody else has it.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    /// A block and whether it is known to be zero.
    fn cut(size: usize) -> (*mut u8, bool) {
        let class = (size.ilog2() - SMALLEST.ilog2()) as usize;
        let mut class = CUT[class].lock().unwrap_or_else(PoisonError::into_inner);
        if !class.free.is_null() {
            let block = class.free;
            // SAFETY: a free block holds the pointer to the next one in its first word.
            class.free = unsafe { block.cast::<*mut u8>().read() };
            return (block, false);
        }
        if class.left < size {
            let chunk = map(HUGE);
            if chunk.is_null() {
                return (chunk, false);
            }
            class.chunk = chunk;
            class.left = HUGE;
        }
        let block = class.chunk;
        class.left -= size;
        // SAFETY: `left` bytes remain behind the pointer.
        class.chunk = unsafe { block.add(size) };
        (block, true)
    }

    fn mapped(size: usize) -> (*mut u8, bool) {
        let mut kept = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        let len = kept.len;
        if let Some(at) = kept.blocks[..len].iter().position(|&(_, s)| s == size) {
            let block = kept.blocks[at].0;
            kept.blocks[at] = kept.blocks[len - 1];
            kept.len -= 1;
            kept.bytes -= size;
            return (block, false);
        }
        drop(kept);
        (map(size), true)
    }

    /// Frees a block that [`take`] made for the same layout.
    pub(super) unsafe fn give_back(block: *mut u8, layout: Layout) {
        let size = room(layout);
        if size <= LARGEST_CUT {
            let class = (size.ilog2() - SMALLEST.ilog2()) as usize;
            let mut class = CUT[class].lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the block is free now and at least a word long.
            unsafe { block.cast::<*mut u8>().write(class.free) };
            class.free = block;
            return;
        }
        let mut kept = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len < KEPT && kept.bytes + size <= KEPT_BYTES {
            let len = kept.len;
            kept.blocks[len] = (block, size);
            kept.len += 1;
            kept.bytes += size;
            return;
        }
        drop(kept);
        // SAFETY: the block was mapped with this size and nobody uses it any more.
        unsafe { libc::munmap(block.cast(), size) };
    }

    /// Maps zeroed memory on a boundary of huge pages.
    fn map(size: usize) -> *mut u8 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of more than is needed; what lies before and behind the aligned part is
        // given back at once, and the advice changes nothing but speed.
        unsafe {
            let whole = libc::mmap(null_mut(), size + HUGE, access, flags, -1, 0);
            if whole == libc::MAP_FAILED {
                return null_mut();
            }
            let whole = whole.cast::<u8>();
            let before = whole.align_offset(HUGE);
            let block = whole.add(before);
            if before > 0 {
                libc::munmap(whole.cast(), before);
            }
            libc::munmap(block.add(size).cast(), HUGE - before);
            libc::madvise(block.cast(), size, libc::MADV_HUGEPAGE);
            block
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod large {
    use std::alloc::Layout;

    pub(super) const fn room(layout: Layout) -> usize {
        layout.size()
    }

    pub(super) fn take(_: Layout, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub(super) unsafe fn give_back(_: *mut u8, _: Layout) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_distinct_zeroed_and_kept() {
        let allocator = HugePages;
        for size in [SMALLEST, 100_000, 1 << 20, 3 << 20, 5_000_000] {
            let layout = Layout::from_size_align(size, 64).unwrap();
            // SAFETY: blocks are used within their size and freed once, with their layout.
            unsafe {
                let a = allocator.alloc(layout);
                let b = allocator.alloc(layout);
                assert!(!a.is_null() && !b.is_null() && a != b);
                a.write_bytes(1, size);
                b.write_bytes(2, size);
                assert_eq!((*a, *a.add(size - 1), *b.add(size - 1)), (1, 1, 2));
                let b = allocator.realloc(b, layout, 2 * size);
                assert_eq!((*b, *b.add(size - 1)), (2, 2));
                allocator.dealloc(b, Layout::from_size_align(2 * size, 64).unwrap());
                allocator.dealloc(a, layout);
                let c = allocator.alloc_zeroed(layout);
                assert!((0..size).all(|i| *c.add(i) == 0));
                allocator.dealloc(c, layout);
            }
        }
    }
}
