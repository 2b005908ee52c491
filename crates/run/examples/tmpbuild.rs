//! t
use hoffman_run::*;
#[global_allocator]
static A: hoffman_solve::HugePages = hoffman_solve::HugePages;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mats: Vec<hoffman_board::Material> = if a[2] == "men" {
        hoffman_plan::all_endings(a[3].parse().unwrap())
    } else {
        a[2..].iter().map(|s| s.parse().unwrap()).collect()
    };
    let jobs = hoffman_plan::complete(mats);
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let r = pool
        .install(|| {
            build(
                &jobs,
                &BuildOptions {
                    dir: a[1].clone().into(),
                    write: a[1] != "-" && std::env::var("NW").is_err(),
                    args: String::new(),
                    progress: &Silent,
                },
            )
        })
        .unwrap();
    println!("built {}", r.built.len());
}
