//! What can be asked about.

use std::borrow::Cow;

use hoffman_board::Variant;
use hoffman_board::shakmaty::{self, Chess, EnPassantMode, Setup};
use hoffman_probe::fen::read_position;
use hoffman_probe::position::Position;

use crate::error::Error;

/// Something that stands for a position: a FEN (with moves behind it, as UCI has them:
/// `... moves e2e4`), a [`Position`], or a position or setup of [`shakmaty`].
pub trait AsPosition {
    /// The position, if it is possible under the rules of the variant and has no castling rights.
    ///
    /// # Errors
    /// What is wrong with it.
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error>;
}

impl<P: AsPosition + ?Sized> AsPosition for &P {
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error> {
        (**self).as_position(variant)
    }
}

impl AsPosition for str {
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error> {
        Ok(Cow::Owned(read_position(self, variant)?))
    }
}

impl AsPosition for String {
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error> {
        self.as_str().as_position(variant)
    }
}

impl AsPosition for Position {
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error> {
        self.check_possible(variant).map_err(Error::Impossible)?;
        if self.en_passant == self.usable_en_passant() {
            return Ok(Cow::Borrowed(self));
        }
        Ok(Cow::Owned(self.clone().without_useless_en_passant()))
    }
}

impl AsPosition for Setup {
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error> {
        if self.castling_rights.any() {
            return Err(Error::Castling);
        }
        let position = Position::from(self);
        position.check_possible(variant).map_err(Error::Impossible)?;
        Ok(Cow::Owned(position.without_useless_en_passant()))
    }
}

impl AsPosition for Chess {
    fn as_position(&self, variant: Variant) -> Result<Cow<'_, Position>, Error> {
        shakmaty::Position::to_setup(self, EnPassantMode::PseudoLegal)
            .as_position(variant)
            .map(|position| Cow::Owned(position.into_owned()))
    }
}
