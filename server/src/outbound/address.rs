//! Which IP addresses belong to the public Internet.
//!
//! A request whose address a caller chose must not reach what only this server can reach: this
//! machine, its network, the metadata service of a cloud.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

/// Any error.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Which addresses a client may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    /// Addresses of the public Internet only, see [`is_public`].
    Public,
    /// Every address; for URLs that the operator configured.
    Any,
}

impl AddressPolicy {
    /// Whether a client may connect to this address.
    pub(crate) const fn allows(self, address: IpAddr) -> bool {
        matches!(self, Self::Any) || is_public(address)
    }
}

/// Resolves names with the system's resolver and returns allowed addresses only. As it checks
/// after the resolution, a name that changes its address gains nothing.
pub(super) struct PolicyResolver(pub(super) AddressPolicy);

#[derive(Debug, thiserror::Error)]
#[error("the name has no public address")]
struct NoAllowedAddress;

impl PolicyResolver {
    /// Whether this error comes from a name that has no allowed address.
    pub(super) fn refused(error: &(dyn Error + 'static)) -> bool {
        let mut causes = std::iter::successors(Some(error), |error| (*error).source());
        causes.any(<dyn Error>::is::<NoAllowedAddress>)
    }
}

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0;
        Box::pin(async move {
            let found: Vec<_> = lookup_host((name.as_str(), 0)).await?.collect();
            let mut allowed = found.into_iter().filter(move |at| policy.allows(at.ip())).peekable();
            if allowed.peek().is_none() {
                return Err(NoAllowedAddress.into());
            }
            Ok(Box::new(allowed) as Addrs)
        })
    }
}

/// Whether an address is public: not private, loopback, link-local, shared, multicast, reserved
/// or for documentation, and not an IPv6 form of such an IPv4 address.
pub(crate) const fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// From the IANA registry of special-purpose addresses (RFC 6890 and later).
const fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127 | 224..=255, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    )
}

/// Only `2000::/3` is allocated, and parts of it embed IPv4 addresses or are reserved.
const fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(v4_from_halves(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => is_public_v4(v4_from_halves(high, low)),
        // Teredo and other protocol assignments; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

const fn v4_from_halves(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(((high as u32) << 16) | low as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &str = "1.1.1.1 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 192.0.1.1 198.20.0.1 \
         223.255.255.255 2606:4700:4700::1111 2001:200::1 ::ffff:8.8.8.8 64:ff9b::808:808 \
         2002:808:808::1";
    const NOT_PUBLIC: &str = "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 \
         172.31.255.255 192.0.0.1 192.0.2.1 192.168.1.1 198.19.0.1 198.51.100.1 203.0.113.1 \
         224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 \
         ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::808:808 2001::1 2001:db8::1 2002:7f00:1:: \
         2002:a00:1::1 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1";

    #[test]
    fn the_table_tells_public_addresses_from_others() {
        for (addresses, public) in [(PUBLIC, true), (NOT_PUBLIC, false)] {
            for address in addresses.split_whitespace() {
                assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
            }
        }
    }
}
