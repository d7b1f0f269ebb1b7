//! Addresses and subnets with std::net, without any network.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Subnet {
    base: u32,
    bits: u32,
}

impl FromStr for Subnet {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let (addr, bits) = s.split_once('/').ok_or(format!("{s}: no prefix length"))?;
        let bits: u32 = bits.parse().map_err(|e| format!("{s}: {e}"))?;
        let addr: Ipv4Addr = addr.parse().map_err(|e| format!("{s}: {e}"))?;
        if bits > 32 {
            return Err(format!("{s}: more than 32 bits"));
        }
        Ok(Subnet {
            base: u32::from(addr) & Self::mask(bits),
            bits,
        })
    }
}

impl Subnet {
    fn mask(bits: u32) -> u32 {
        u32::MAX.checked_shl(32 - bits).unwrap_or(0)
    }

    fn contains(&self, a: Ipv4Addr) -> bool {
        u32::from(a) & Self::mask(self.bits) == self.base
    }

    fn halves(self) -> [Subnet; 2] {
        let bits = self.bits + 1;
        [
            Subnet { bits, ..self },
            Subnet {
                base: self.base | 1 << (32 - bits),
                bits,
            },
        ]
    }

    fn text(&self) -> String {
        format!(
            "{}/{} to {}",
            Ipv4Addr::from(self.base),
            self.bits,
            Ipv4Addr::from(self.base | !Self::mask(self.bits))
        )
    }
}

fn main() {
    for text in [
        "10.1.2.3",
        "127.0.0.1",
        "169.254.7.7",
        "::1",
        "2001:db8::42",
        "::ffff:192.0.2.1",
        "256.1.1.1",
        "1.2.3",
        "fe80::1::2",
        "::",
    ] {
        match text.parse::<IpAddr>() {
            Ok(IpAddr::V4(a)) => println!(
                "{a} private={} loopback={} link={} octets={:?}",
                a.is_private(),
                a.is_loopback(),
                a.is_link_local(),
                a.octets()
            ),
            Ok(IpAddr::V6(a)) => println!(
                "{a} loopback={} v4={:?} segments={:x?}",
                a.is_loopback(),
                a.to_ipv4_mapped(),
                a.segments()
            ),
            Err(e) => println!("{text}: {e}"),
        }
    }
    for text in [
        "192.168.77.9/20",
        "0.0.0.0/0",
        "1.2.3.4/32",
        "1.2.3.4",
        "1.2.3.4/33",
        "x/8",
    ] {
        match text.parse::<Subnet>() {
            Ok(s) => println!("{text} is {} has {}", s.text(), 1u64 << (32 - s.bits)),
            Err(e) => println!("error: {e}"),
        }
    }
    let net: Subnet = "10.0.0.0/22".parse().unwrap();
    net.halves()
        .iter()
        .flat_map(|h| h.halves())
        .for_each(|q| println!("  {}", q.text()));
    println!(
        "{} {}",
        net.contains(Ipv4Addr::new(10, 0, 3, 255)),
        net.contains(Ipv4Addr::new(10, 0, 4, 0))
    );
    let mut all: Vec<IpAddr> = ["10.0.0.9", "9.255.0.1", "::2", "::1", "10.0.0.10"]
        .iter()
        .map(|s| s.parse().unwrap())
        .collect();
    all.sort();
    println!("{all:?}");
    println!(
        "{:?} {:?}",
        "[::1]:8080".parse::<SocketAddr>(),
        "1.2.3.4:99999".parse::<SocketAddr>().is_err()
    );
    println!(
        "{}",
        Ipv6Addr::from(0x2001_0db8_0000_0000_0001_0000_0000_0001u128)
    );
}
