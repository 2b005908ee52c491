//! Chooses the widest instructions that the processor has.
//!
//! This and the row operations of `kernels::isa` are the only unsafe code of the solver.

use std::sync::LazyLock;

/// What the processor offers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

pub(crate) fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        static LEVEL: LazyLock<Level> = LazyLock::new(|| {
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vpopcntdq");
            let middle = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            match (wide && middle, middle) {
                (true, _) => Level::Avx512,
                (_, true) => Level::Avx2,
                _ => Level::Plain,
            }
        });
        *LEVEL
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static LEVEL: LazyLock<Level> = LazyLock::new(|| Level::Plain);
        *LEVEL
    }
}

/// A function that is compiled for each of these levels: what it does, where `$isa` stands for the
/// [`Isa`] of the level.
///
/// [`Isa`]: crate::kernels::isa::Isa
macro_rules! for_processor {
    (
        $(#[$doc:meta])*
        fn $name:ident $(<$g:ident: $bound:path>)? ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?,
        $isa:ident => $body:expr
    ) => {
        $(#[$doc])*
        #[allow(unsafe_code)]
        pub(crate) fn $name $(<$g: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2 $(<$g: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                type $isa = $crate::kernels::isa::Portable;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
            )]
            fn avx512 $(<$g: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                type $isa = $crate::kernels::isa::x86::Avx512;
                $body
            }
            match $crate::processor::level() {
                $crate::processor::Level::Plain => {
                    #[allow(dead_code)]
                    type $isa = $crate::kernels::isa::Portable;
                    $body
                }
                // SAFETY: the processor has the features, `level` has looked.
                #[cfg(target_arch = "x86_64")]
                $crate::processor::Level::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::processor::Level::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}
pub(crate) use for_processor;
