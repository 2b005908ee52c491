//! Any bytes as what a client of the server sends: requests of all kinds, broken or whole, one
//! after the other.
//!
//! No request, however it is made, is the server's failure, and what is called JSON is JSON. The
//! server is the one of `hoffman serve`, over connections in memory.

#![no_main]

use hoffman_fuzz::SERVER;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|sent: &[u8]| {
    let received = SERVER.exchange(sent);
    let Some(first) = received.get(..12) else {
        assert!(received.is_empty(), "{:?}", String::from_utf8_lossy(&received));
        return;
    };
    assert!(first.starts_with(b"HTTP/1."), "{:?}", String::from_utf8_lossy(first));
    let status: u16 =
        std::str::from_utf8(&first[9..]).expect("a number").parse().expect("a number");
    assert!((200..500).contains(&status), "{:?}", String::from_utf8_lossy(&received));
    if sent.starts_with(b"GET ") {
        check_body(&received);
    }
});

/// Whether the body of the first answer is JSON, if it says so.
fn check_body(received: &[u8]) {
    let end = received.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&received[..end]);
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    };
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if let Some(length) = length
        && header("content-type").as_deref() == Some("application/json")
    {
        let body = &received[end + 4..][..length];
        let json: Result<serde_json::Value, _> = serde_json::from_slice(body);
        assert!(json.is_ok(), "{:?}", String::from_utf8_lossy(body));
    }
}
