//! The repository's own rules: what the README promises, what continuous integration runs, which
//! files there are, and what does not belong into any of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::root;

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The commands in the fenced blocks of a page: lines that begin with `cargo` or `./`.
fn commands(page: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside && (line.starts_with("cargo ") || line.starts_with("./")) {
            found.push(line);
        }
    }
    found
}

/// Every text file of the repository but those that are generated or come from elsewhere.
fn files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", ".git", "corpus", "artifacts"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if ![".git", "Cargo.lock", "LICENSE"].contains(&name.as_str()) {
                // What is no text has no words.
                found.extend(fs::read_to_string(&path).ok().map(|text| (path, text)));
            }
        }
    }
    assert!(found.len() > 50, "only {} files were found", found.len());
    found
}

#[test]
fn the_readme_has_two_commands() {
    let readme = read("README.md");
    let commands = commands(&readme);
    let [solve, test] = commands[..] else { panic!("not two commands: {commands:?}") };
    assert!(solve.starts_with("cargo run --release -- solve \""), "{solve}");
    assert_eq!(test, "cargo test --workspace");
}

#[test]
fn continuous_integration_runs_the_tests_of_the_readme() {
    let readme = read("README.md");
    let test = commands(&readme)[1];
    let script = read(".ci/run");
    assert!(script.starts_with("#!"));
    let lines: Vec<&str> = script.lines().collect();
    let format = "cargo fmt --all --check";
    let lint = "cargo clippy --workspace --all-targets -- -D warnings";
    for command in ["set -euo pipefail", format, lint, test] {
        assert!(lines.contains(&command), ".ci/run lacks '{command}'");
    }
    assert!(read("justfile").lines().any(|line| line.trim() == test));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(root().join(".ci/run")).unwrap().permissions().mode();
        assert_ne!(mode & 0o111, 0, ".ci/run is not executable");
    }
}

#[test]
fn required_files_are_there() {
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE",
        "justfile",
        "docs/tutorial.md",
        "docs/file-formats.md",
        "docs/control-files.md",
        "docs/control-files.rng",
        "docs/performance.md",
        "examples/kk.xml",
    ] {
        assert!(!read(name).trim().is_empty(), "{name} is empty");
    }
    assert!(read("LICENSE").contains("GNU GENERAL PUBLIC LICENSE"));
    assert!(read("Cargo.toml").contains("license = \"GPL-3.0-or-later\""));
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CHANGELOG.md").contains(&format!("## {version}")), "no changes for {version}");
}

#[test]
fn nothing_speaks_of_one_machine() {
    // Put together from pieces, so that this file obeys its own rule.
    let forbidden = [
        concat!("/wo", "rk/"),
        concat!("/tm", "p/"),
        concat!("/ro", "ot/"),
        concat!("/home", "/"),
        concat!("local", "host"),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("<<<", "<<<<"),
        concat!(">>>", ">>>>"),
    ];
    let mut wrong = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            for word in forbidden.iter().filter(|&&word| line.contains(word)) {
                wrong.push(format!("{}, line {}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The headings of a page as the ends of links: small letters, hyphens for blanks, nothing else but
/// letters, digits and underscores; a number behind a heading that was there before.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for heading in outside_of_code(page).filter_map(|line| line.strip_prefix('#')) {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let name: String = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let numbered = (1..).map(|n| format!("{name}-{n}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

/// The lines of a page that are in no fenced block.
fn outside_of_code(page: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// What the links of a line lead to: `](here)`.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
    for (path, text) in files().into_iter().filter(|(path, _)| is_page(path)) {
        for link in outside_of_code(&text).flat_map(links).filter(|link| !link.contains(':')) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let leads = target.exists()
                && (anchor.is_empty()
                    || is_page(&target)
                        && anchors(&fs::read_to_string(&target).unwrap())
                            .iter()
                            .any(|a| a == anchor));
            if !leads {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(count > 30, "only {count} links were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c)).filter(|word| !word.is_empty())
}

/// The statements of a file that begin with a word, up to one of some characters.
fn statements<'t>(text: &'t str, begin: &'t str, end: &'t [char]) -> impl Iterator<Item = &'t str> {
    let lines = text.match_indices('\n').map(|(at, _)| text[at + 1..].trim_start());
    let starting = lines.filter(move |rest| rest.starts_with(begin));
    starting.filter_map(move |rest| rest.split(end).next())
}

/// What the crate of a folder has for others, by name; where it stands in the crate is not told.
fn public_names(folder: &str, files: &[(PathBuf, String)]) -> HashSet<String> {
    let mut names = HashSet::new();
    for (_, text) in files.iter().filter(|(path, _)| path.to_string_lossy().contains(folder)) {
        let re_exported = statements(text, "pub use ", &[';']);
        let own = statements(text, "pub ", &['(', '{', ';', '=', '<', ':']);
        names.extend(re_exported.chain(own).flat_map(words).map(str::to_owned));
    }
    names
}

/// They are no part of the workspace: the long proof compiles them.
#[test]
fn fuzz_targets_are_listed_and_import_what_there_is() {
    let files = files();
    let manifest = read("fuzz/Cargo.toml");
    let mut wrong = Vec::new();
    let mut imports = 0;
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with(root().join("fuzz"))) {
        let name = path.file_stem().unwrap().to_string_lossy();
        let is_target = path.parent().is_some_and(|folder| folder.ends_with("fuzz_targets"));
        if is_target && !manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")) {
            wrong.push(format!("fuzz/Cargo.toml lacks {name}"));
        }
        if is_target && !root().join("fuzz/corpus").join(&*name).is_dir() {
            wrong.push(format!("fuzz/corpus lacks {name}"));
        }
        for import in statements(text, "use hoffman_", &[';']) {
            let import = import.trim_start_matches("use hoffman_");
            let krate = words(import).next().unwrap();
            let folder = if krate == "fuzz" {
                "/fuzz/src/".to_owned()
            } else {
                format!("crates/{krate}/src/")
            };
            let public = public_names(&folder, &files);
            let mut names = words(import).skip(1);
            while let Some(word) = names.next() {
                if word == "as" {
                    // The next name is the importer's own.
                    names.next();
                } else if word != "self" {
                    imports += 1;
                    if !public.contains(word) && !is_of_shakmaty(import, word) {
                        wrong.push(format!("{}: {krate} has no {word}", path.display()));
                    }
                }
            }
        }
    }
    assert!(imports > 30, "only {imports} imports were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// It is no part of the workspace: the long proof builds and tests it.
#[test]
fn the_package_for_python_is_a_face_of_the_library() {
    let manifest = read("python/Cargo.toml");
    let ours: Vec<&str> =
        manifest.lines().filter(|line| line.contains("path = \"../crates")).collect();
    assert_eq!(ours, ["hoffman = { path = \"../crates/hoffman\" }"]);
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        manifest.contains(&format!("version = \"{version}\"")),
        "another version than {version}"
    );
    for name in ["python/Cargo.toml", "python/pyproject.toml"] {
        assert!(read(name).contains("license = \"GPL-3.0-or-later\""), "{name}");
    }
    assert!(read("Cargo.toml").contains("members = [\"crates/*\"]"));
    assert!(read("scripts/long-proof").contains("\npython() {"));

    // What the compiled part has for the package has a stub.
    let module = read("python/src/lib.rs");
    let stubs = read("python/package/hoffman/_hoffman.pyi");
    let exported = statements(&module, "use crate::", &[';']).flat_map(|line| words(line).skip(3));
    let exported: Vec<&str> = exported.collect();
    assert!(exported.len() > 10, "{exported:?}");
    for name in exported {
        let is_there = ["class", "def"].iter().any(|kind| {
            let begin = format!("{kind} {name}");
            stubs.lines().any(|line| line.starts_with(&begin))
        });
        assert!(is_there, "python/package/hoffman/_hoffman.pyi lacks {name}");
    }
}

/// The long proof builds them.
#[test]
fn containers_and_packages_are_made_of_what_there_is() {
    let dockerfile = read("Dockerfile");
    let compiler = format!("FROM rust:{}-", env!("CARGO_PKG_RUST_VERSION"));
    assert!(dockerfile.lines().any(|line| line.starts_with(&compiler)), "no '{compiler}'");
    let ignored = read(".dockerignore");
    let copies = statements(&dockerfile, "COPY ", &['\n']).filter(|line| !line.contains("--from"));
    let copies: Vec<&str> = copies.collect();
    assert!(copies.len() > 2, "{copies:?}");
    for line in copies {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        for source in &words[..words.len() - 1] {
            assert!(root().join(source).exists(), "Dockerfile: there is no {source}");
            let is_sent = ignored.lines().any(|line| line.strip_prefix('!') == Some(source));
            assert!(is_sent, ".dockerignore lacks !{source}");
        }
    }

    let manifest = read("crates/cli/Cargo.toml");
    let assets = manifest.split("[\"../../").skip(1).filter_map(|rest| rest.split('"').next());
    let assets: Vec<&str> = assets.filter(|asset| !asset.starts_with("target/")).collect();
    assert!(assets.len() > 4, "{assets:?}");
    for asset in assets {
        let (folder, name) = asset.rsplit_once('/').unwrap_or(("", asset));
        let name = name.split('*').next().unwrap();
        let mut files = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap());
        let is_there = files.any(|file| file.file_name().to_string_lossy().starts_with(name));
        assert!(is_there, "crates/cli/Cargo.toml: there is no {asset}");
    }
    for part in ["install", "debian", "docker"] {
        assert!(read("scripts/long-proof").contains(&format!("\n{part}() {{")), "no part {part}");
    }
}

/// Whether an import is of the crate that `board` hands on as a whole.
fn is_of_shakmaty(import: &str, word: &str) -> bool {
    import.contains("shakmaty::") && word != "shakmaty"
}

/// As `ARCHITECTURE.md` says.
#[test]
fn unsafe_code_is_in_known_files_only() {
    let known = ["solve/src/processor.rs", "solve/src/kernels/isa.rs"];
    let architecture = read("ARCHITECTURE.md");
    for file in known {
        assert!(architecture.contains(file), "ARCHITECTURE.md does not name {file}");
    }
    let allowance = concat!("allow(", "unsafe_code)");
    for (path, text) in files() {
        let is_known = known.iter().any(|file| path.ends_with(file));
        assert!(is_known || !text.contains(allowance), "{}", path.display());
    }
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let main = [folder.join("src/lib.rs"), folder.join("src/main.rs")];
        let main = main.iter().find(|path| path.is_file()).unwrap();
        let text = fs::read_to_string(main).unwrap();
        let forbids = ["#![forbid(unsafe_code)]", "#![deny(unsafe_code)]"];
        assert!(forbids.iter().any(|line| text.contains(line)), "{}", main.display());
        assert!(text.starts_with("//! "), "{} does not say what it owns", main.display());
    }
}

#[test]
fn examples_are_valid() {
    let mut examples: Vec<PathBuf> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "xml"))
        .collect();
    examples.sort();
    assert!(examples.len() >= 7, "{examples:?}");
    let run = Command::new(env!("CARGO_BIN_EXE_hoffman")).arg("-s").args(&examples).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8(run.stdout).unwrap().lines().count(), examples.len());
}

/// The number changes if a result changes: then this page has to be changed knowingly.
#[test]
fn the_signature_is_the_documented_one() {
    let page = read("docs/performance.md");
    let (_, section) = page.split_once("## 6. The signature").unwrap();
    let (_, block) = section.split_once("```text\n").unwrap();
    let documented = block.lines().next().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_hoffman")).arg("bench").output().unwrap();
    assert!(run.status.success());
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim(), documented);
}

/// Product code without the tests that stand below it in the same file.
fn product_code() -> Vec<(PathBuf, String)> {
    let is_product = |path: &Path| {
        let text = path.to_string_lossy();
        text.contains("/src/") && text.ends_with(".rs") && !text.ends_with("tests.rs")
    };
    let files = files().into_iter().filter(|(path, _)| is_product(path));
    files
        .map(|(path, text)| {
            let end = below(&text, "#[cfg(test)]").min(below(&text, "#[cfg(all(test"));
            (path, text[..end].to_owned())
        })
        .collect()
}

/// Where a module of tests begins. One that is in a file of its own is named anywhere above.
fn below(text: &str, mark: &str) -> usize {
    let begins = |at: &usize| {
        let item = text[*at..].lines().find(|line| !line.trim_start().starts_with("#["));
        item.is_some_and(|item| item.starts_with("mod ") && !item.ends_with(';'))
    };
    let mut found = text.match_indices(mark).map(|(at, _)| at);
    found.find(begins).unwrap_or(text.len())
}

/// Whether a string of source code begins with a tag, white space and line breaks aside. The
/// protocol UCI writes a string without letters as `<empty>`.
fn begins_with_a_tag(string: &str) -> bool {
    if string.ends_with("<empty>") {
        return false;
    }
    let text = string.replace("\\n", "");
    let tag = text.trim_start().strip_prefix('<').unwrap_or_default();
    tag.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '/' | '!'))
}

/// A crate is read from above downwards: a file uses those that its crate page lists below it.
#[test]
fn files_use_only_what_stands_below_them() {
    let mut found = Vec::new();
    for name in ["plan", "run"] {
        let page = read(&format!("crates/{name}/src/lib.rs"));
        let module = |line: &str| {
            let line = line.strip_prefix("pub ").unwrap_or(line);
            Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
        };
        let order: Vec<String> = page.lines().filter_map(module).collect();
        assert!(order.len() > 4, "{order:?}");
        let place = |module: &str| order.iter().position(|other| other == module);
        for (path, text) in product_code() {
            let folder = root().join("crates").join(name).join("src");
            let Ok(inside) = path.strip_prefix(&folder) else { continue };
            let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            let Some(own) = place(first.trim_end_matches(".rs")) else { continue };
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for used in code.flat_map(|line| line.split("crate::").skip(1)) {
                let used = used.split(|c: char| c != '_' && !c.is_ascii_lowercase()).next();
                if used.and_then(place).is_some_and(|used| used < own) {
                    found.push(format!("{} uses {}", path.display(), used.unwrap()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn comments_are_at_most_a_hundred_columns_wide() {
    let mut wide = Vec::new();
    for (path, text) in files() {
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let too_wide =
            |line: &&str| line.trim_start().starts_with("//") && line.chars().count() > 100;
        wide.extend(
            text.lines().filter(too_wide).map(|line| format!("{}: {line}", path.display())),
        );
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// The name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let after = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let (kind, rest) = after.split_once(' ')?;
    let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    ["struct", "enum", "trait"].contains(&kind).then_some(name).filter(|name| !name.is_empty())
}

/// One word, one thing. Named twice is only what is the same in two crates.
#[test]
fn a_name_of_a_type_means_one_thing() {
    let same = [
        "Claims",
        "Error",
        "Expansion",
        "Material",
        "Move",
        "Position",
        "ProbeError",
        "Table",
        "TableInfo",
        "Tablebase",
        "Value",
    ];
    let mut places: HashMap<String, Vec<PathBuf>> = HashMap::new();
    // The slow solver shares nothing with the rest, names neither; classes of Python are named as
    // what they show.
    let apart = |path: &Path| {
        ["/oracle/", "/python/"].iter().any(|part| path.to_string_lossy().contains(part))
    };
    let product = product_code().into_iter().filter(|(path, _)| !apart(path));
    for (path, text) in product {
        for name in text.lines().filter_map(defined) {
            places.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    assert!(places.len() > 800, "only {} types were found", places.len());

    let twice = |name: &str| places.get(name).is_some_and(|places| places.len() > 1);
    for name in same {
        assert!(twice(name), "{name} is no longer named twice: take it from the list");
    }
    let others =
        places.iter().filter(|(name, places)| places.len() > 1 && !same.contains(&name.as_str()));
    let others: Vec<String> = others.map(|(name, places)| format!("{name}: {places:?}")).collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// Invariants 5 and 7 of ARCHITECTURE.md.
#[test]
fn files_go_through_the_store_and_xml_through_control() {
    let system =
        ["fs::read", "fs::write", "fs::metadata", "fs::rename", "File::open", "File::create"];
    // What the system says of itself, the history of the prompt,
    // games, which are no tables and may come through a pipe, and logs that other processes write.
    let allowed = [
        "crates/run/src/memory.rs",
        "crates/run/src/write.rs",
        "commands/prompt.rs",
        "commands/annotate.rs",
        "jobs/runner.rs",
    ];
    let mut found = Vec::new();
    for (path, text) in product_code() {
        let name = path.to_string_lossy().into_owned();
        let uses = |words: &[&str]| {
            let code = |line: &&str| !line.trim_start().starts_with("//");
            let mut lines = text.lines().filter(code);
            lines.any(|line| {
                let whole = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric());
                words.iter().any(|word| line.match_indices(word).any(|(at, _)| whole(at)))
            })
        };
        let in_crate =
            |names: &[&str]| names.iter().any(|c| name.contains(&format!("crates/{c}/")));
        if uses(&system)
            && !in_crate(&["store", "hbf"])
            && !allowed.iter().any(|a| name.ends_with(a))
        {
            found.push(format!("{name} reads or writes files by itself"));
        }
        if uses(&["roxmltree"]) && !in_crate(&["control"]) {
            found.push(format!("{name} reads XML by itself"));
        }
        // Messages may name elements; a text that begins with a tag is one that is being written.
        // The random control files of the oracle are made for tests.
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let tags = code.filter(|line| line.split('"').skip(1).step_by(2).any(begins_with_a_tag));
        let is_picture = name.ends_with("crates/cli/src/svg.rs");
        if tags.count() > 0 && !in_crate(&["control", "oracle"]) && !is_picture {
            found.push(format!("{name} writes XML by itself"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
