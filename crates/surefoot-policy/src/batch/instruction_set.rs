//! Which vector instructions the machine has.

use std::fmt;
use std::sync::LazyLock;

/// Vector instructions that evaluation can use. They change its speed, never its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstructionSet {
    /// What every machine of the target has.
    Portable,
    /// 256-bit vectors of x86-64 with fused multiply-adds.
    Avx2,
    /// 512-bit vectors of x86-64.
    Avx512,
}

impl InstructionSet {
    /// All of them, the slowest first.
    pub const ALL: [InstructionSet; 3] =
        [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512];

    /// The fastest one on this machine.
    pub fn best() -> Self {
        static BEST: LazyLock<InstructionSet> = LazyLock::new(|| {
            let available = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
            available.max().unwrap_or(InstructionSet::Portable)
        });
        *BEST
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            InstructionSet::Portable => true,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(not(target_arch = "x86_64"))]
            InstructionSet::Avx2 | InstructionSet::Avx512 => false,
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            InstructionSet::Portable => "portable",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512 => "avx512",
        })
    }
}
