# Tasks of the project. `just --list` shows them.

# Everything that runs before a change is merged.
default: lint test

# Unit, golden and integration tests.
test:
    cargo test --workspace

# The same, a process for each test, with cargo-nextest.
nextest:
    cargo nextest run --workspace
    cargo test --workspace --doc

# Also those that are marked slow.
test-slow:
    cargo test --workspace --release -- --include-ignored

# Format, lints and documentation, warnings as errors.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Licences, advisories and duplicate dependencies (needs cargo-deny).
deny:
    cargo deny check
    cargo deny --manifest-path python/Cargo.toml check --config deny.toml

# Spelling of code and documents (needs typos, by cargo or pip). Links are tested by crates/cli/tests/cli/repository.rs.
spelling:
    typos

# The oldest compiler that Cargo.toml allows (needs rustup).
msrv:
    scripts/long-proof msrv

# The package for Python: built, installed into target/python/venv and tested (needs python3 and pip).
python:
    scripts/long-proof python

# The second, slow solver and published facts.
oracle:
    cargo test --release -p hoffman-oracle

# The line for a commit that touches the solver: the signature, after a release build.
bench-line:
    @cargo build --release --quiet
    @echo "bench $(target/release/hoffman bench 2>/dev/null)"

# How long two commits take for the commands of docs/performance.md, in turns.
compare before after="HEAD" *options:
    scripts/compare-commits {{ options }} {{ before }} {{ after }}

# The stable compiler has coverage but no sanitizers, hence `-s none`. New inputs go to target/fuzz-corpus;
# fuzz/corpus holds the committed seeds. Targets: cargo fuzz list. Needs cargo-fuzz. `just fuzz hbf 600 16384`.

# Fuzz a target for some seconds.
fuzz target seconds="120" longest="4096":
    mkdir -p target/fuzz-corpus/{{ target }}
    cargo fuzz run -s none {{ target }} target/fuzz-corpus/{{ target }} fuzz/corpus/{{ target }} -- -max_total_time={{ seconds }} -max_len={{ longest }} -timeout=10

# All fuzz targets compile.
fuzz-check:
    scripts/long-proof fuzz

# Fuzz every target for some seconds.
fuzz-all seconds="120":
    for target in $(cargo fuzz list); do just fuzz $target {{ seconds }} || exit 1; done

# What cargo-fuzz would pass to the compiler; for fuzzing without it.
coverage := "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing"

# Fuzz a target for some seconds with the stable compiler, without cargo-fuzz.
fuzz-stable target seconds="120" longest="4096":
    mkdir -p target/fuzz-corpus/{{ target }}
    cd fuzz && RUSTFLAGS="{{ coverage }}" cargo build --release --target x86_64-unknown-linux-gnu --bin {{ target }}
    fuzz/target/x86_64-unknown-linux-gnu/release/{{ target }} target/fuzz-corpus/{{ target }} fuzz/corpus/{{ target }} -max_total_time={{ seconds }} -max_len={{ longest }} -timeout=10 -rss_limit_mb=2048

# Write the binary seeds of the fuzz targets anew.
fuzz-seeds:
    cargo run --manifest-path fuzz/Cargo.toml --example make_seeds
