package relay

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// entry is one line of an allow-list: a name or a network, and a port.
type entry struct {
	text string // as it was written
	// host is a name in lower case and ASCII; with a dot in front it means all
	// names below. Empty means prefix.
	host   string
	prefix netip.Prefix
	port   uint16 // 0 is every port
}

func (e entry) matchesPort(port uint16) bool { return e.port == 0 || e.port == port }

func (e entry) matchesName(host string) bool {
	if below, ok := strings.CutPrefix(e.host, "."); ok {
		name, ok := strings.CutSuffix(host, "."+below)
		return ok && name != ""
	}
	return e.host != "" && e.host == host
}

func (e entry) isWildcard() bool { return e.host != "" && e.host[0] == '.' }

func (e entry) isLoopback() bool { return e.host == "" && e.prefix.Addr().IsLoopback() }

// opens tells whether the entry opens an address that lies in closed networks.
func (e entry) opens(address netip.Addr, closed []network) bool {
	if e.host != "" || !e.prefix.Contains(address) {
		return false
	}
	for _, n := range closed {
		if !n.contains(e.prefix) {
			return false
		}
	}
	return true
}

// coversName tells whether all that a name entry means is meant by this one.
func (e entry) coversName(other entry) bool {
	if !e.matchesPort(other.port) {
		return false
	}
	below, wild := strings.CutPrefix(other.host, ".")
	if !wild {
		return e.matchesName(other.host)
	}
	return e.host == other.host || e.isWildcard() && e.matchesName(below)
}

// covers does so for networks.
func (e entry) covers(other entry) bool {
	return e.host == "" && e.matchesPort(other.port) &&
		e.prefix.Bits() <= other.prefix.Bits() && e.prefix.Contains(other.prefix.Addr())
}

// maxEntry is the longest text of an entry: a wildcard, a name in its Unicode
// form, and a port.
const maxEntry = 1024

// parseEntry reads an entry. This host's loopback makes two, one for each family.
func parseEntry(text string) ([]entry, error) {
	fail := func(format string, args ...any) ([]entry, error) {
		return nil, fmt.Errorf("allow-list entry %.80q: %s", text, fmt.Sprintf(format, args...))
	}
	if text == "" || len(text) > maxEntry {
		return fail("a host or an address is needed, with at most %d characters", maxEntry)
	}
	if strings.Contains(text, "://") {
		return fail("write HOST or HOST:PORT and no URL")
	}
	if prefix, err := parsePrefix(text); err == nil { // IPv6 without brackets, too
		return checkPrefix(entry{text: text, prefix: prefix})
	}
	host, port, err := splitPort(text)
	if err != nil {
		return fail("%v", err)
	}
	if strings.EqualFold(host, "localhost") || strings.EqualFold(host, HostName) {
		return []entry{
			{text: text, prefix: netip.MustParsePrefix("127.0.0.1/32"), port: port},
			{text: text, prefix: netip.MustParsePrefix("::1/128"), port: port},
		}, nil
	}
	if inner, ok := strings.CutPrefix(host, "["); ok || strings.Contains(host, "/") {
		prefix, err := parsePrefix(strings.TrimSuffix(inner, "]"))
		if err != nil || ok != (prefix.Addr().Is6() && strings.HasSuffix(host, "]")) {
			return fail("this is neither an address nor a network such as 10.1.0.0/16 or [2001:db8::/32]")
		}
		return checkPrefix(entry{text: text, prefix: prefix, port: port})
	}
	if address, err := netip.ParseAddr(host); err == nil && address.Is4() {
		return checkPrefix(entry{text: text, prefix: netip.PrefixFrom(address, 32), port: port})
	}
	name, err := parseName(host)
	if err != nil {
		return fail("%v", err)
	}
	return []entry{{text: text, host: name, port: port}}, nil
}

// parsePrefix reads a network or a single address.
func parsePrefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("not an address")
	}
	return netip.PrefixFrom(address, address.BitLen()), nil
}

func checkPrefix(e entry) ([]entry, error) {
	switch {
	case e.prefix.Addr().Is4In6():
		return nil, fmt.Errorf("allow-list entry %q: write it as IPv4", e.text)
	case e.prefix != e.prefix.Masked():
		return nil, fmt.Errorf("allow-list entry %q: an address within the network %s; name one of them", e.text, e.prefix.Masked())
	case namePool.Contains(e.prefix.Addr()) && e.prefix.Bits() >= namePool.Bits():
		return nil, fmt.Errorf("allow-list entry %q: names get their addresses inside from %s, so it leads nowhere", e.text, namePool)
	}
	return []entry{e}, nil
}

// splitPort separates a port, which follows the last colon outside brackets.
func splitPort(text string) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(text, ':')
	if colon < strings.LastIndexByte(text, ']') || colon < 0 {
		return text, 0, nil
	}
	host, digits := text[:colon], text[colon+1:]
	if strings.Contains(host, ":") && !strings.Contains(host, "[") {
		return "", 0, fmt.Errorf("two colons; IPv6 with a port is written [2001:db8::1]:443")
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] < '1' || digits[0] > '9' {
		return "", 0, fmt.Errorf("the port is a number from 1 to 65535, not %.20q", digits)
	}
	return host, uint16(n), nil
}

// lookup is how programs put a name into ASCII before they ask for it.
var lookup = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false))

// parseName reads a name, or a wildcard for all names below one.
func parseName(text string) (string, error) {
	name, below := strings.CutPrefix(text, "*.")
	if strings.Contains(name, "*") {
		return "", fmt.Errorf("a * stands for all names below one, as in *.example.org; the network mode full is every name")
	}
	name, err := lookup.ToASCII(name)
	if err != nil {
		return "", fmt.Errorf("not a host name: %w", err)
	}
	name, ok := hostName(name)
	if !ok {
		return "", fmt.Errorf("not a host name: letters, digits, - and _ in labels of at most 63 characters, at most 253 in all, and not only digits at the end")
	}
	if isLocalName(name) {
		return "", fmt.Errorf("names below localhost mean the container itself")
	}
	if below {
		return "." + name, nil
	}
	return name, nil
}

// hostName brings a name in ASCII into the form in which names are compared: in
// lower case, without the dot at the end. Names that end in a number are refused:
// programs take them for addresses, as inet_aton does 127.1 and 0x7f000001.
func hostName(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > 253 {
		return "", false
	}
	lower := []byte(name)
	label := 0
	for i, c := range lower {
		switch {
		case c == '.':
			if label == 0 {
				return "", false
			}
			label = -1
		case c >= 'A' && c <= 'Z':
			lower[i] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return "", false
		}
		if label++; label > 63 {
			return "", false
		}
	}
	return string(lower), label > 0 && !endsInNumber(string(lower))
}

func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
