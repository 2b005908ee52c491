//! `hoffman serve`: tables over HTTP, and a page to look at them with.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::Duration;

use hoffman_serve::{Config, Server, ServerLimits};

use crate::RunEnd;
use crate::args::{ServeArgs, expect_folders, folders_or_usual};
use crate::interrupt::cancel;
use crate::output::{note, print_line};

/// Answers until it is interrupted.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<RunEnd> {
    let folders = folders_or_usual(&args.folders)?;
    expect_folders(&args.syzygy)?;
    if folders.is_empty() && args.syzygy.is_empty() {
        note("there is no folder of tables; name one with --dir DIR");
    }

    let limits = ServerLimits {
        connections: args.connections as usize,
        rate: args.rate,
        body: args.body as usize,
        patience: Duration::from_secs(args.patience),
        counted: args.at_once,
        counting: args.count,
    };
    let (syzygy, cors) = (args.syzygy.clone(), args.cors.clone());
    let (listen, build) = (args.listen, args.build);
    let prove = args.prove.map(Duration::from_secs);
    let config = Config { folders, syzygy, listen, cors, build, prove, limits };

    // Asked for before anything is served, so that no signal comes too early.
    let cancel = cancel();
    let server = Server::bind(config)?;
    let address = format!("http://{}/", reached_at(server.address()));
    print_line(&address)?;
    if args.open {
        show(&address);
    }
    let served = server.run(&cancel);
    // What did not come to a safe point in time leaves nothing half-written.
    hoffman::process::abandon_files();
    served?;
    Ok(RunEnd::Done)
}

/// Where this computer reaches what listens to all of its addresses.
fn reached_at(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Asks the system to show a page. Where it cannot, the address stands in the terminal.
fn show(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        note(&format!("cannot show the page: {program}: {error}"));
    }
}
