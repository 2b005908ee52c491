//! Addresses: what a name such as `https://example.org/tables/krk.hbf` means.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use object_store::path::Path as Key;

/// How an address is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    /// A web server, in the clear.
    Http,
    /// A web server.
    Https,
    /// A bucket.
    S3,
}

/// The address of a file or of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// The server with its port, or the bucket.
    pub(crate) host: String,
    /// What stands behind it, without slashes around.
    pub(crate) key: Key,
}

impl Address {
    /// Reads a name; paths may have lost one of two slashes, or turned them round.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`].
    pub(crate) fn of(path: &Path) -> io::Result<Address> {
        let text = path.to_str().ok_or_else(|| invalid("the address is no text"))?;
        let text = text.replace('\\', "/");
        let schemes = [("http:/", Scheme::Http), ("https:/", Scheme::Https), ("s3:/", Scheme::S3)];
        let begun = schemes.iter().find_map(|&(begin, s)| Some((text.strip_prefix(begin)?, s)));
        let (rest, scheme) = begun.ok_or_else(|| invalid("the address is of no known kind"))?;

        let mut parts = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
        let host = parts.next().ok_or_else(|| invalid("the address names no server"))?;
        if host.contains('@') {
            return Err(invalid("an address with a user and a password is not supported"));
        }
        let mut kept: Vec<&str> = Vec::new();
        for part in parts {
            if part == ".." {
                kept.pop();
            } else {
                kept.push(part);
            }
        }
        let key = Key::from_url_path(kept.join("/"))
            .map_err(|error| invalid(&format!("the address is not understood: {error}")))?;
        Ok(Address { scheme, host: host.to_owned(), key })
    }

    /// Whether nothing can be written there.
    pub(crate) fn is_read_only(&self) -> bool {
        self.scheme != Scheme::S3
    }

    /// The last part of the name; empty for a server or a bucket.
    pub(crate) fn name(&self) -> &str {
        self.key.filename().unwrap_or_default()
    }

    /// Whether it is the name of a working file: those begin with a dot.
    pub(crate) fn is_hidden(&self) -> bool {
        self.name().starts_with('.')
    }

    /// What it lies in.
    pub(crate) fn folder(&self) -> Address {
        let mut parts: Vec<_> = self.key.parts().collect();
        parts.pop();
        Address { key: parts.into_iter().collect(), ..self.clone() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::S3 => "s3",
        };
        write!(f, "{scheme}://{}/{}", self.host, self.key)
    }
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_paths_leave_them() {
        let read = |text: &str| Address::of(Path::new(text)).map(|address| address.to_string());
        for (text, address) in [
            ("http://127.0.0.1:80/a/b.hbf", "http://127.0.0.1:80/a/b.hbf"),
            ("https:/example.org/a//./b.hbf", "https://example.org/a/b.hbf"),
            ("s3://bucket/", "s3://bucket/"),
            ("s3://bucket/a/../b/", "s3://bucket/b"),
            ("http:\\\\host\\a", "http://host/a"),
        ] {
            assert_eq!(read(text).ok().as_deref(), Some(address), "{text}");
        }
        for text in ["http://", "ftp://a/b", "a/b", "https://me:secret@host/a"] {
            let error = read(text).map_err(|error| error.kind());
            assert_eq!(error, Err(ErrorKind::InvalidInput), "{text}");
        }
        let file = Address::of(Path::new("s3://bucket/a/.krk.htb.lock"));
        let file = file.expect("an address");
        assert!(file.is_hidden() && !file.folder().is_hidden());
        assert_eq!(file.folder().to_string(), "s3://bucket/a");
    }
}
