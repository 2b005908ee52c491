use hoffman_board::*;
use hoffman_solve::*;
use hoffman_space::*;
use std::collections::*;
use std::sync::Arc;
use std::time::Instant;
#[global_allocator]
static A: HugePages = HugePages;

fn subs(m: &Material) -> Vec<Material> {
    let mut out = vec![];
    for c in Color::ALL {
        for r in material::NAMING_ORDER {
            if let Some(x) = m.without(c, r) {
                out.push(x.normalized().0);
                if r == Role::Pawn {
                    for p in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                        let y = x.with(c, p);
                        out.push(y.normalized().0);
                        for v in material::NAMING_ORDER {
                            if v != Role::Pawn {
                                if let Some(z) = y.without(c.other(), v) {
                                    out.push(z.normalized().0);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    out
}
fn structures(m: &Material) -> BTreeSet<PawnStructure> {
    fn choose(n: u32, from: u32, set: u64, out: &mut Vec<u64>) {
        if n == 0 {
            out.push(set);
            return;
        }
        for s in from..56 {
            choose(n - 1, s + 1, set | 1 << s, out);
        }
    }
    let (mut w, mut b) = (vec![], vec![]);
    choose(m.count.white.pawn as u32, 8, 0, &mut w);
    choose(m.count.black.pawn as u32, 8, 0, &mut b);
    let mut out = BTreeSet::new();
    for &x in &w {
        for &y in &b {
            if x & y == 0 {
                out.insert(PawnStructure { white: x, black: y }.normalized(m.is_symmetric()).0);
            }
        }
    }
    out
}
fn build(m: Material, tables: &mut Tables, total: &mut f64) {
    if tables.contains_key(&m) {
        return;
    }
    for s in subs(&m) {
        build(s, tables, total);
    }
    let t0 = Instant::now();
    let mut t = TableValues::new(m, structures(&m));
    solve_table(
        &mut t,
        tables,
        SolveOptions { count: std::env::var("C").is_ok(), keep: true },
        &|| {},
    )
    .unwrap();
    let dt = t0.elapsed().as_secs_f64();
    *total += dt;
    if std::env::var("Q").is_ok() {
        println!("{m} {:.4}", dt)
    } else {
        println!("{m} {:.4}s slices {} {}", dt, t.slices.len(), count(&t));
    }
    if std::env::var("C").is_ok() {
        for (p, s) in t.slices.iter().take(1) {
            println!("{m} {p:?} {:?}", s.get().unwrap().counts);
        }
    }
    tables.insert(m, Arc::new(t));
}
fn count(t: &TableValues) -> String {
    let mut c = [[0u64; 3]; 2];
    let mut max = [0u16; 2];
    let movers = t.layout.movers().len();
    for (p, s) in &t.slices {
        let s = s.get().unwrap();
        let sym = t.material.is_symmetric();
        let mut orbit = BTreeMap::new();
        for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
            if swap && !sym {
                continue;
            }
            orbit.entry(p.oriented(Orientation { swap, mirror })).or_insert(swap);
        }
        let paired = t.layout.kings() == KingPlacement::Pairs;
        for side in 0..2 {
            let n = match &s.codes[side] {
                Codes::Narrow(v) => v.len(),
                Codes::Wide(v) => v.len(),
            };
            let mut hist = vec![0u64; 70000];
            let inner = 1usize << (6 * (movers - 2));
            for i in 0..n {
                let v = match &s.codes[side] {
                    Codes::Narrow(v) => v[i].to_u16(),
                    Codes::Wide(v) => v[i],
                };
                if v == 0 {
                    continue;
                }
                let mut w = 2;
                if paired {
                    let (a, b) = king_pairs().pairs[i / inner];
                    let d = |s: u8| s >> 3 == s & 7;
                    if d(a as u8) && d(b as u8) {
                        let mut r = i % inner;
                        let mut fixed = true;
                        for _ in 2..movers {
                            fixed &= d((r & 63) as u8);
                            r >>= 6;
                        }
                        if !fixed {
                            w = 1;
                        }
                    }
                }
                hist[v as usize] += w;
            }
            // weights: number of distinct structures for this side/2
            for (code, &h) in hist.iter().enumerate() {
                if h == 0 {
                    continue;
                }
                let k = match (code as u16).value() {
                    Value::Win(m) => {
                        max[side] = max[side].max(m);
                        0
                    }
                    Value::Draw => 1,
                    _ => 2,
                };
                for (_, &swap) in &orbit {
                    c[side ^ swap as usize][k] +=
                        if t.material.has_pawns() { h * 1 } else { 2 * h };
                }
                if false {
                    let _ = &orbit;
                }
            }
        }
    }
    // orbit counted 1 or 2 (mirror), 4 with swap where both sides covered twice
    let f = |n: u64, pw: u8, pb: u8| {
        let mut x = n;
        for p in [pw, pb] {
            x *= (1..=p as u64).product::<u64>();
        }
        x
    };
    let pw = t.material.count.white.pawn;
    let pb = t.material.count.black.pawn;
    let norm = |n: u64| f(n, pw, pb) as f64 / 4.0;
    format!(
        "w {} {} {} b {} {} {} max {:?}",
        norm(c[0][0]),
        norm(c[0][1]),
        norm(c[0][2]),
        norm(c[1][0]),
        norm(c[1][1]),
        norm(c[1][2]),
        max
    )
}
fn main() {
    let mut tables = Tables::new();
    let mut total = 0.0;
    let t0 = Instant::now();
    for a in std::env::args().skip(1) {
        build(a.parse().unwrap(), &mut tables, &mut total);
    }
    eprintln!("solve {:.3} wall {:.3}", total, t0.elapsed().as_secs_f64());
}
