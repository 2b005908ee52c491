//! How often each address may ask.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most addresses that are remembered.
const ADDRESSES: usize = 16 << 10;

/// What each address has left.
#[derive(Debug)]
pub(crate) struct Rate {
    /// Requests a second; 0 for any number.
    per_second: u32,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rate {
    pub(crate) fn new(per_second: u32) -> Rate {
        Rate { per_second, buckets: Mutex::default() }
    }

    /// Takes that many requests off what an address has left. If it has too few, how long it has
    /// to wait for them; nothing is taken then.
    pub(crate) fn take(&self, address: IpAddr, count: u32) -> Result<(), Duration> {
        self.take_at(address, count, Instant::now())
    }

    fn take_at(&self, address: IpAddr, count: u32, now: Instant) -> Result<(), Duration> {
        if self.per_second == 0 {
            return Ok(());
        }
        let (speed, most) = (f64::from(self.per_second), f64::from(self.per_second) * 2.0);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ADDRESSES {
            // Those that are full again are as if they had never asked.
            buckets.retain(|_, bucket| bucket.filled(now, speed) < most);
        }
        if buckets.len() >= ADDRESSES {
            return Err(Duration::from_secs(1));
        }

        let fresh = Bucket { left: most, at: now };
        let bucket = buckets.entry(network_of(address)).or_insert(fresh);
        *bucket = Bucket { left: bucket.filled(now, speed).min(most), at: now };
        // More than there can ever be is given to who has everything.
        let wanted = f64::from(count).min(most);
        if bucket.left < wanted {
            return Err(Duration::from_secs_f64((wanted - bucket.left) / speed));
        }
        bucket.left -= wanted;
        Ok(())
    }
}

impl Bucket {
    fn filled(&self, now: Instant, speed: f64) -> f64 {
        self.left + now.saturating_duration_since(self.at).as_secs_f64() * speed
    }
}

/// Who has an address of version 6 has all of its network.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn who_asks_too_often_waits_and_others_do_not() {
        let (rate, now) = (Rate::new(10), Instant::now());
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        for _ in 0..20 {
            assert_eq!(rate.take_at(one, 1, now), Ok(()));
        }
        let wait = rate.take_at(one, 1, now).expect_err("the burst is over");
        assert_eq!(wait, Duration::from_millis(100));
        assert_eq!(rate.take_at(other, 20, now), Ok(()));
        assert_eq!(rate.take_at(one, 1, now + wait), Ok(()));
        assert!(rate.take_at(one, 1, now + wait).is_err());
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let (rate, now) = (Rate::new(1), Instant::now());
        assert_eq!(rate.take_at(address("2001:db8::1"), 2, now), Ok(()));
        assert!(rate.take_at(address("2001:db8::2"), 1, now).is_err());
        assert_eq!(rate.take_at(address("2001:db8:0:1::1"), 1, now), Ok(()));
    }

    #[test]
    fn no_rate_is_no_bound() {
        let rate = Rate::new(0);
        assert!((0..100).all(|_| rate.take(address("::1"), 1_000).is_ok()));
    }
}
