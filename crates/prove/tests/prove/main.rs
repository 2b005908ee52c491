//! Proofs against complete endings, plain searches and each other. All in one program, whose tests
//! run side by side.

mod assumptions;
mod complete;
mod resumed;
