//! What a job takes of memory, before it is begun.

use hoffman_space::Layout;

/// The size of a table that is to be solved.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Where positions of a slice are.
    pub layout: Layout,
    /// How many slices there are.
    pub slices: u64,
}

impl Resources {
    /// Positions of a slice, both sides to move.
    pub fn slice(&self) -> u64 {
        2 * self.layout.len() as u64
    }

    /// Positions of the table, both sides to move. That many bytes its values take.
    pub fn values(&self) -> u64 {
        self.slice().saturating_mul(self.slices)
    }

    /// Bytes that solving a slice takes besides: per position two bits of planes, about four of
    /// logs and three of events.
    pub fn working(&self) -> u64 {
        self.slice().saturating_mul(5) / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_men_take_a_quarter_gigabyte() {
        let layout = Layout::new(&"KQRvKR".parse().unwrap());
        assert_eq!(Resources { layout, slices: 1 }.values(), 462 * 64 * 64 * 64 * 2);
    }
}
