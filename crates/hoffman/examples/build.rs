//! Builds an ending with all that it needs, tells how far it is, and checks the result:
//! `cargo run --release -p hoffman --example build -- FOLDER KRPvKR`.
#![allow(clippy::print_stdout)]

use hoffman::{Error, Event, Options, VerifyOptions};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(ending)) = (arguments.next(), arguments.next()) else {
        println!("name a folder and an ending");
        return Ok(());
    };
    let options = Options::new(folder).program("an example");
    let targets = [ending.parse()?];
    let plan = hoffman::plan(&targets, &options)?;
    println!("about {:.1} s, {} tables", plan.elapsed_seconds, plan.tables.len());

    // Another thread may hold a clone of this and stop the work.
    let cancel = hoffman::Cancel::new();
    let options = options.cancel(cancel.clone());
    let (mut done, mut total) = (0, 0);
    let built = hoffman::build(&targets, &options, &mut |event| match event {
        Event::Begin { work } => total = work,
        Event::Done { work } | Event::Skipped { work } => done += work,
        Event::Finished { name } => {
            println!("{name}: {:.0} %", 100.0 * done as f64 / total.max(1) as f64);
        }
        Event::Notice { text } => println!("note: {text}"),
        _ => {}
    })?;

    println!("{} written, {} kept", built.made.len(), built.kept.len());
    for path in built.written() {
        let report = hoffman::verify(path, &VerifyOptions::new().sample(10_000), &mut |_| {})?;
        println!("{report}");
    }
    Ok(())
}
