//! What went wrong, in one sentence.

use std::error::Error;
use std::io::{self, ErrorKind};

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

use crate::address::{Address, Scheme};

/// What the library puts before the status of an answer.
const STATUS: &str = "Server returned non-2xx status code: ";

/// The failure of a request. The caller names the address.
pub(crate) fn failure(error: &StoreError, address: &Address) -> io::Error {
    let kind = match error {
        StoreError::NotFound { .. } => ErrorKind::NotFound,
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            ErrorKind::PermissionDenied
        }
        StoreError::Precondition { .. } | StoreError::NotModified { .. } => return changed(),
        StoreError::AlreadyExists { .. } => ErrorKind::AlreadyExists,
        StoreError::NotSupported { .. } => {
            return io::Error::other(
                "the server sends whole files only, and range requests are needed",
            );
        }
        _ => ErrorKind::Other,
    };
    let text = match kind {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => format!("the server refuses access{}", hint(address)),
        _ => reason(error, address),
    };
    io::Error::new(kind, text)
}

/// The file is not the one that was opened.
pub(crate) fn changed() -> io::Error {
    io::Error::other("the file was changed while it was read")
}

/// What the library says at the bottom of its chain of errors.
fn reason(error: &StoreError, address: &Address) -> String {
    let mut deepest: &(dyn Error + 'static) = error;
    let mut text = None;
    loop {
        let said = deepest.to_string();
        if let Some(status) = said.strip_prefix(STATUS) {
            // The body behind it may be a page of any length.
            let status = status.split(": ").next().unwrap_or_default();
            return format!("the server answers {status}");
        }
        if let Some(http) = deepest.downcast_ref::<HttpError>() {
            text = match http.kind() {
                HttpErrorKind::Timeout => return "the server takes too long to answer".to_owned(),
                HttpErrorKind::Connect => Some("the server cannot be reached"),
                HttpErrorKind::Decode | HttpErrorKind::Interrupted | HttpErrorKind::Request => {
                    Some("the answer of the server breaks off")
                }
                _ => Some("the request fails"),
            };
        }
        match deepest.source() {
            Some(source) => deepest = source,
            None => break,
        }
    }

    let detail = deepest.to_string();
    match text {
        Some(text) => format!("{text} ({}){}", one_line(&detail), hint(address)),
        None => one_line(&detail),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What may be the matter with a bucket.
fn hint(address: &Address) -> &'static str {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if address.scheme != Scheme::S3 || is_set("AWS_ACCESS_KEY_ID") || is_set("AWS_SKIP_SIGNATURE") {
        return "";
    }
    "; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, nor AWS_SKIP_SIGNATURE for a \
     bucket that anyone may read"
}
