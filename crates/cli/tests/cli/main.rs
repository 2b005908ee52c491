//! The program as its users meet it: one test program of all that is asked of it, so that it is
//! linked once and both cores always have a test to run.
#![allow(clippy::unwrap_used)]

mod blocks;
mod claims;
mod common;
mod control;
mod engines;
mod examples;
mod hostile;
mod interruptions;
mod jobs;
mod join;
mod leaves;
mod limits;
mod lists;
mod memory;
mod outcomes;
mod program;
mod races;
mod remote;
mod repository;
mod s3;
mod search_files;
mod serve;
mod small;
mod structures;
mod together;
mod tutorial;
mod uci;
mod verified;
mod what_if;
