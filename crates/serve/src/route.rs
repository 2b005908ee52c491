//! What a request asks for.

use hyper::{Method, StatusCode};

use crate::limits::POSITION;
use crate::response::Refusal;

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// The page and its files.
    Page,
    /// A position, in the shape of the Lichess tablebase server.
    Position(ChessRules),
    /// The main line, in the same shape.
    Mainline(ChessRules),
    /// Many positions.
    Batch,
    /// A position for the page.
    Shown,
    /// A man on all squares.
    Heat,
    /// The tables.
    Tables,
    /// What a table contains.
    Stats,
    /// Positions of a table.
    List,
    /// What making tables would take.
    Plan,
    /// Making them.
    Build,
    /// Proving a position.
    Prove,
    /// Whether the server is well.
    Health,
    /// What it has done.
    Metrics,
    /// What can be asked for.
    Description,
    /// Nothing there is.
    Nothing,
}

/// The game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChessRules {
    Chess,
    Suicide,
}

/// All of them.
pub(crate) const ROUTES: [Endpoint; 18] = [
    Endpoint::Page,
    Endpoint::Position(ChessRules::Chess),
    Endpoint::Position(ChessRules::Suicide),
    Endpoint::Mainline(ChessRules::Chess),
    Endpoint::Mainline(ChessRules::Suicide),
    Endpoint::Batch,
    Endpoint::Shown,
    Endpoint::Heat,
    Endpoint::Tables,
    Endpoint::Stats,
    Endpoint::List,
    Endpoint::Plan,
    Endpoint::Build,
    Endpoint::Prove,
    Endpoint::Health,
    Endpoint::Metrics,
    Endpoint::Description,
    Endpoint::Nothing,
];

impl Endpoint {
    /// What a path leads to. The files of the page are looked for elsewhere.
    pub(crate) fn of(path: &str) -> Endpoint {
        match path {
            "/" => Endpoint::Page,
            "/standard" => Endpoint::Position(ChessRules::Chess),
            "/suicide" => Endpoint::Position(ChessRules::Suicide),
            "/standard/mainline" => Endpoint::Mainline(ChessRules::Chess),
            "/suicide/mainline" => Endpoint::Mainline(ChessRules::Suicide),
            "/batch" => Endpoint::Batch,
            "/api/position" => Endpoint::Shown,
            "/api/heat" => Endpoint::Heat,
            "/api/stats" => Endpoint::Stats,
            "/api/list" => Endpoint::List,
            "/api/plan" => Endpoint::Plan,
            "/api/build" => Endpoint::Build,
            "/api/prove" => Endpoint::Prove,
            "/tables" => Endpoint::Tables,
            "/healthz" => Endpoint::Health,
            "/metrics" => Endpoint::Metrics,
            "/openapi.json" => Endpoint::Description,
            asset if asset.starts_with("/assets/") => Endpoint::Page,
            _ => Endpoint::Nothing,
        }
    }

    /// Its name in the metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Endpoint::Page => "page",
            Endpoint::Position(ChessRules::Chess) => "standard",
            Endpoint::Position(ChessRules::Suicide) => "suicide",
            Endpoint::Mainline(ChessRules::Chess) => "standard-mainline",
            Endpoint::Mainline(ChessRules::Suicide) => "suicide-mainline",
            Endpoint::Batch => "batch",
            Endpoint::Shown => "position",
            Endpoint::Heat => "heat",
            Endpoint::Tables => "tables",
            Endpoint::Stats => "stats",
            Endpoint::List => "list",
            Endpoint::Plan => "plan",
            Endpoint::Build => "build",
            Endpoint::Prove => "prove",
            Endpoint::Health => "healthz",
            Endpoint::Metrics => "metrics",
            Endpoint::Description => "openapi",
            Endpoint::Nothing => "nothing",
        }
    }

    /// The methods that it takes.
    pub(crate) fn allowed(self) -> &'static str {
        match self {
            Endpoint::Batch | Endpoint::Build | Endpoint::Prove => "POST, OPTIONS",
            Endpoint::Stats | Endpoint::List => "GET, HEAD, POST, OPTIONS",
            _ => "GET, HEAD, OPTIONS",
        }
    }

    /// Whether a method makes sense for it.
    pub(crate) fn takes(self, method: &Method) -> bool {
        self.allowed().split(", ").any(|allowed| allowed == method.as_str())
    }

    /// Whether errors are told as the Lichess tablebase server tells them, in plain text.
    pub(crate) fn is_of_lichess(self) -> bool {
        matches!(self, Endpoint::Position(_) | Endpoint::Mainline(_))
    }
}

/// The value of a parameter of a query; none if it is missing.
pub(crate) fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let pairs = form_urlencoded::parse(query?.as_bytes());
    pairs.into_iter().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// A parameter that has to be there.
pub(crate) fn wanted(query: Option<&str>, name: &str) -> Result<String, Refusal> {
    let value = parameter(query, name).filter(|value| !value.trim().is_empty());
    value.ok_or_else(|| {
        let text = format!("the parameter '{name}' is missing");
        Refusal::new(StatusCode::BAD_REQUEST, "no-parameter", text)
    })
}

/// The position of a query. Underscores may stand for blanks.
pub(crate) fn position_of(query: Option<&str>) -> Result<String, Refusal> {
    position_text(&wanted(query, "fen")?)
}

/// A position that is not too long.
pub(crate) fn position_text(fen: &str) -> Result<String, Refusal> {
    if fen.len() > POSITION {
        let text = format!("a position is longer than {POSITION} characters");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "bad-fen", text));
    }
    Ok(fen.trim().replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_counted_under_a_name_of_its_own() {
        let mut names: Vec<_> = ROUTES.iter().map(|route| route.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROUTES.len());
    }

    #[test]
    fn a_position_may_be_written_in_several_ways() {
        for query in ["fen=8/8/8/8_w_-", "a=b&fen=8%2F8/8/8+w+-&c", "fen=%208/8/8/8%20w%20- "] {
            assert_eq!(position_of(Some(query)).expect("a position"), "8/8/8/8 w -", "{query}");
        }
        for query in [None, Some(""), Some("fen"), Some("fen="), Some("fen=%20"), Some("nef=8/8")] {
            assert_eq!(position_of(query).expect_err("none").code, "no-parameter", "{query:?}");
        }
        let long = format!("fen={}", "8".repeat(POSITION + 1));
        assert_eq!(position_of(Some(&long)).expect_err("too long").code, "bad-fen");
    }
}
