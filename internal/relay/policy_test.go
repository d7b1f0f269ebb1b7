package relay

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func mustParse(t testing.TB, rules Rules) *Policy {
	t.Helper()
	p, err := Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseEntry(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"example.org", "example.org:*"},
		{"EXAMPLE.org.", "example.org:*"},
		{"example.org:443", "example.org:443"},
		{"example.org.:443", "example.org:443"},
		{"*.example.org", ".example.org:*"},
		{"*.Example.org:8080", ".example.org:8080"},
		{"bücher.example", "xn--bcher-kva.example:*"},
		{"*.BÜCHER.example:1", ".xn--bcher-kva.example:1"},
		{"_dmarc.example.org", "_dmarc.example.org:*"},
		{"db", "db:*"},
		{"93.184.216.34", "93.184.216.34/32:*"},
		{"93.184.216.34:65535", "93.184.216.34/32:65535"},
		{"10.1.0.0/16", "10.1.0.0/16:*"},
		{"10.1.0.0/16:5432", "10.1.0.0/16:5432"},
		{"0.0.0.0/0", "0.0.0.0/0:*"},
		{"2001:db8::1", "2001:db8::1/128:*"},
		{"[2001:db8::1]", "2001:db8::1/128:*"},
		{"[2001:db8::1]:443", "2001:db8::1/128:443"},
		{"2001:db8::/32", "2001:db8::/32:*"},
		{"[2001:db8::/32]:443", "2001:db8::/32:443"},
		{"localhost:80", "127.0.0.1/32:80 ::1/128:80"},
		{"LOCALHOST", "127.0.0.1/32:* ::1/128:*"},
		{"host.docker.internal:80", "127.0.0.1/32:80 ::1/128:80"},

		{"", "a host or an address is needed"},
		{strings.Repeat("a", 1025), "at most 1024"},
		{"https://example.org/", "no URL"},
		{"example.org/path", "neither an address nor a network"},
		{"example.org:", "from 1 to 65535"},
		{"example.org:0", "from 1 to 65535"},
		{"example.org:080", "from 1 to 65535"},
		{"example.org:+80", "from 1 to 65535"},
		{"example.org:65536", "from 1 to 65535"},
		{"example.org:http", `not "http"`},
		{"example.org:80:90", "two colons"},
		{":80", "not a host name"},
		{"*", "network mode full"},
		{"*:443", "network mode full"},
		{"*.", "not a host name"},
		{"a*.example.org", "names below one"},
		{"*.*.example.org", "names below one"},
		{"*.1.2.3.4", "not a host name"},
		{"exa mple.org", "not a host name"},
		{"example..org", "not a host name"},
		{".example.org", "not a host name"},
		{"example.org..", "not a host name"},
		{"example.org\n", "not a host name"},
		{"foo@example.org", "not a host name"},
		{strings.Repeat("a", 64) + ".org", "not a host name"},
		{strings.Repeat("a.", 126) + "ab", "not a host name"},
		{"127.1", "not a host name"},
		{"2130706433", "not a host name"},
		{"0x7f000001", "not a host name"},
		{"0x7F.1", "not a host name"},
		{"１２７.0.0.1", "not a host name"},
		{"010.0.0.1", "not a host name"},
		{"xn--a", "not a host name"},
		{"foo.localhost", "the container itself"},
		{"*.localhost", "the container itself"},
		{"10.1.2.3/16", "within the network 10.1.0.0/16"},
		{"10.0.0.0/33", "neither an address nor a network"},
		{"[10.0.0.1]:80", "neither an address nor a network"},
		{"[::1", "neither an address nor a network"},
		{"::1]", "not a host name"},
		{"[fe80::1%eth0]", "neither an address nor a network"},
		{"fe80::1%eth0", "two colons"},
		{"::ffff:10.0.0.1", "write it as IPv4"},
		{"198.18.0.5", "leads nowhere"},
		{"198.18.0.0/15:80", "leads nowhere"},
	} {
		t.Run(c.text, func(t *testing.T) {
			entries, err := parseEntry(c.text)
			var got []string
			for _, e := range entries {
				port := "*"
				if e.port != 0 {
					port = fmt.Sprint(e.port)
				}
				if e.host == "" {
					e.host = e.prefix.String()
				}
				got = append(got, e.host+":"+port)
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "allow-list entry") {
					t.Errorf("%v; want %q", err, c.want)
				}
				return
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestParseBounds(t *testing.T) {
	if _, err := Parse(Rules{Allow: slices.Repeat([]string{"a.org"}, maxEntries+1)}); err == nil {
		t.Error("a policy of any length")
	}
}

func TestAllowsName(t *testing.T) {
	list := mustParse(t, Rules{Allow: []string{"example.org:443", "*.example.net", "10.0.0.0/8"}})
	full := mustParse(t, Rules{Full: true})
	local := mustParse(t, Rules{Allow: []string{"localhost:5432"}})
	for _, c := range []struct {
		p    *Policy
		host string
		want bool
	}{
		{list, "example.org", true},
		{list, "www.example.org", false},
		{list, "example.net", false},
		{list, "a.example.net", true},
		{list, "a.b.example.net", true},
		{list, "notexample.net", false},
		{list, ".example.net", false},
		{list, "example.org.evil.test", false},
		{list, HostName, false},
		{full, "anything.test", true},
		{full, HostName, false},
		{local, HostName, true},
		{local, "example.org", false},
	} {
		if got := c.p.allowsName(c.host); got != c.want {
			t.Errorf("%s: %v", c.host, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	p := mustParse(t, Rules{Allow: []string{"example.org:443", "example.org:80", "*.example.net"}})
	for _, c := range []struct {
		host string
		port uint16
		want string
	}{
		{"example.org", 443, ""},
		{"example.org", 80, ""},
		{"example.org", 22, "other ports"},
		{"a.example.net", 22, ""},
		{HostName, 22, ""}, // its address decides
		{"evil.test", 443, "not in the allow-list"},
	} {
		if err := p.checkName(c.host, c.port); !means(err, c.want) {
			t.Errorf("%s:%d: %v, want %q", c.host, c.port, err, c.want)
		}
	}
}

// means tells whether an error says something, or is nil when nothing is wanted.
func means(err error, want string) bool {
	if err == nil || want == "" {
		return err == nil && want == ""
	}
	return strings.Contains(err.Error(), want)
}

// Addresses that no policy opens which does not name them, in every disguise.
var closedAddresses = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
	"127.0.0.1", "127.255.255.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.1",
	"192.0.2.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1",
	"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192",
	"::", "::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254",
	"ff02::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1",
	"4000::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
	"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1",
	"93.184.216.99", "2606:2800:220:1::99", "::ffff:93.184.216.99", // own
}

var openAddresses = []string{
	"1.1.1.1", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
	"128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
	"192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
	"2606:4700:4700::1111", "2a00:1450::1", "64:ff9b::93.184.216.34", "::ffff:93.184.216.34",
}

// Two of interfaces, and those that a route alone makes this host's.
var ownAddresses = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("93.184.216.99/32"),
	netip.MustParsePrefix("2606:2800:220:1::99/128"), netip.MustParsePrefix("93.184.215.128/25"),
}

func TestClosedAddresses(t *testing.T) {
	everything := Rules{Allow: []string{"0.0.0.0/0", "::/0", "128.0.0.0/1", "0.0.0.0/1", "8000::/1", "8.0.0.0/5"}}
	for name, rules := range map[string]Rules{"full": {Full: true}, "every network": everything, "both": {Full: true, Allow: everything.Allow}} {
		p := mustParse(t, rules)
		for _, named := range []bool{false, true} {
			for _, a := range closedAddresses {
				// 8000::/1 lies in a closed network and says so itself.
				if plain := plain(netip.MustParseAddr(a)); rules.Allow != nil && netip.MustParsePrefix("8000::/1").Contains(plain) {
					continue
				}
				if p.checkAddress(netip.AddrPortFrom(netip.MustParseAddr(a), 80), named, ownAddresses) == nil {
					t.Errorf("%s: %s is open, named %v", name, a, named)
				}
			}
			for _, a := range openAddresses {
				if err := p.checkAddress(netip.AddrPortFrom(netip.MustParseAddr(a), 80), named, ownAddresses); err != nil {
					t.Errorf("%s: %s is closed: %v", name, a, err)
				}
			}
		}
	}
}

func TestCheckAddress(t *testing.T) {
	for _, c := range []struct {
		allow, to string
		named     bool
		want      string
	}{
		{"93.184.216.34", "93.184.216.34:80", false, ""},
		{"93.184.216.34:443", "93.184.216.34:80", false, "not in the allow-list"},
		{"93.184.216.0/24", "93.184.216.34:80", false, ""},
		{"example.org", "93.184.216.34:80", false, "not in the allow-list"},
		{"example.org", "93.184.216.34:80", true, ""},
		{"example.org", "10.0.0.1:80", true, "its address is in a private network"},
		{"10.0.0.1", "10.0.0.1:80", true, ""},
		{"10.0.0.1", "[::ffff:10.0.0.1]:80", true, ""},
		{"10.0.0.1", "[64:ff9b::10.0.0.1]:80", true, ""},
		{"10.0.0.1:5432", "10.0.0.1:80", true, "private"},
		{"10.0.0.0/8", "10.9.9.9:80", false, ""},
		{"10.0.0.0/8", "11.0.0.1:80", false, "not in the allow-list"},
		{"10.0.0.0/7", "10.0.0.1:80", false, "private"},
		{"10.0.0.0/7", "11.0.0.1:80", false, ""},
		{"localhost:80", "127.0.0.1:80", true, ""},
		{"localhost:80", "127.0.0.2:80", true, "loopback"},
		{"localhost:80", "[::1]:80", true, ""},
		{"127.0.0.0/8", "127.0.0.2:80", true, ""},
		{"169.254.0.0/16", "169.254.1.1:80", false, ""},
		{"169.254.0.0/16", "169.254.169.254:80", false, "metadata service"},
		{"169.254.169.254:80", "169.254.169.254:80", false, ""},
		{"fc00::/7", "[fd00:ec2::254]:80", true, "metadata service"},
		{"fc00::/7", "[fd12::1]:80", true, ""},
		{"93.184.216.0/24", "93.184.216.99:80", false, "an address of this host"},
		{"93.184.216.99", "93.184.216.99:80", false, ""},
		{"93.184.215.0/24", "93.184.215.127:80", false, ""},
		{"93.184.215.0/24", "93.184.215.200:80", false, "an address of this host"},
		{"example.org", "93.184.215.200:80", true, "an address of this host"},
		{"93.184.215.200", "93.184.215.200:80", false, ""},
		{"93.184.215.128/25", "93.184.215.200:80", false, ""},
	} {
		p := mustParse(t, Rules{Allow: []string{c.allow}})
		if err := p.checkAddress(netip.MustParseAddrPort(c.to), c.named, ownAddresses); !means(err, c.want) {
			t.Errorf("with %s, to %s (named %v): %v, want %q", c.allow, c.to, c.named, err, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		ceiling, asked Rules
		want           string
	}{
		{Rules{}, Rules{}, ""},
		{Rules{Full: true}, Rules{Full: true}, ""},
		{Rules{Allow: []string{"0.0.0.0/0"}}, Rules{Full: true}, "network full"},
		{Rules{}, Rules{AllowDNS: true}, "resolving"},
		{Rules{AllowDNS: true}, Rules{AllowDNS: true}, ""},
		{Rules{Full: true}, Rules{AllowDNS: true}, ""},
		{Rules{Full: true}, Rules{Allow: []string{"example.org", "*.example.org:1", "93.184.216.34", "0.0.0.0/0"}}, ""},
		{Rules{Full: true}, Rules{Allow: []string{"10.0.0.1"}}, "10.0.0.1"},
		{Rules{Full: true}, Rules{Allow: []string{"localhost"}}, "localhost"},
		{Rules{Full: true}, Rules{Allow: []string{"93.184.216.99"}}, "93.184.216.99"},
		{Rules{Full: true}, Rules{Allow: []string{"93.184.215.200"}}, "93.184.215.200"},
		{Rules{Full: true, Allow: []string{"10.0.0.0/8:5432"}}, Rules{Allow: []string{"10.0.0.1:5432"}}, ""},
		{Rules{Full: true, Allow: []string{"10.0.0.0/8:5432"}}, Rules{Allow: []string{"10.0.0.1"}}, "10.0.0.1"},
		{Rules{Full: true, Allow: []string{"0.0.0.0/0"}}, Rules{Allow: []string{"10.0.0.0/8"}}, "10.0.0.0/8"},
		{Rules{Allow: []string{"169.254.0.0/16"}}, Rules{Allow: []string{"169.254.169.254"}}, "169.254.169.254"},
		{Rules{Allow: []string{"93.184.216.0/24"}}, Rules{Allow: []string{"93.184.216.34:80"}}, ""},
		{Rules{Allow: []string{"93.184.216.0/24"}}, Rules{Allow: []string{"93.184.216.99"}}, "93.184.216.99"},
		{Rules{Allow: []string{"93.184.216.0/24"}}, Rules{Allow: []string{"93.184.0.0/16"}}, "93.184.0.0/16"},
		{Rules{Allow: []string{"example.org"}}, Rules{Allow: []string{"example.org:443"}}, ""},
		{Rules{Allow: []string{"example.org:443"}}, Rules{Allow: []string{"example.org"}}, "example.org"},
		{Rules{Allow: []string{"example.org:443"}}, Rules{Allow: []string{"example.org:80"}}, "example.org:80"},
		{Rules{Allow: []string{"example.org"}}, Rules{Allow: []string{"*.example.org"}}, "*.example.org"},
		{Rules{Allow: []string{"*.example.org"}}, Rules{Allow: []string{"a.example.org", "*.b.example.org", "*.example.org"}}, ""},
		{Rules{Allow: []string{"*.example.org"}}, Rules{Allow: []string{"example.org"}}, "to example.org"},
		{Rules{Allow: []string{"*.b.example.org"}}, Rules{Allow: []string{"*.example.org"}}, "*.example.org"},
		{Rules{Allow: []string{"127.0.0.0/8"}}, Rules{Allow: []string{"localhost"}}, "localhost"}, // ::1 is not covered
		{Rules{Allow: []string{"localhost"}}, Rules{Allow: []string{"localhost:80"}}, ""},
	} {
		err := mustParse(t, c.asked).Within(mustParse(t, c.ceiling), ownAddresses)
		if !means(err, c.want) {
			t.Errorf("%v within %v: %v, want %q", c.asked, c.ceiling, err, c.want)
		}
	}
}

// What is within a ceiling opens nothing that the ceiling does not.
func FuzzWithin(f *testing.F) {
	f.Add("10.0.0.0/8", "10.0.0.1:80", "10.0.0.1:80")
	f.Add("0.0.0.0/0", "169.254.169.254", "169.254.169.254:80")
	f.Add("93.184.216.0/24", "93.184.216.99", "93.184.216.99:1")
	f.Fuzz(func(t *testing.T, ceiling, asked, to string) {
		c, err := Parse(Rules{Allow: []string{ceiling}})
		if err != nil {
			return
		}
		a, err := Parse(Rules{Allow: []string{asked}})
		if err != nil {
			return
		}
		address, err := netip.ParseAddrPort(to)
		if err != nil || a.Within(c, ownAddresses) != nil {
			return
		}
		if a.checkAddress(address, false, ownAddresses) == nil && c.checkAddress(address, false, ownAddresses) != nil {
			t.Errorf("%q is within %q but opens %s", asked, ceiling, to)
		}
	})
}

func FuzzParseEntry(f *testing.F) {
	for _, s := range []string{"example.org:443", "*.example.org", "[2001:db8::/32]:1", "10.0.0.0/8:80", "localhost", "bücher.example", "127.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := parseEntry(text)
		if err != nil {
			if len(entries) > 0 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q: %q with %v", text, err, entries)
			}
			return
		}
		for _, e := range entries {
			if e.host == "" {
				if !e.prefix.IsValid() {
					t.Errorf("%q means nothing", text)
				}
				continue
			}
			name := strings.TrimPrefix(e.host, ".")
			if canonical, ok := hostName(name); !ok || canonical != name {
				t.Errorf("%q gives the name %q, which is not canonical", text, e.host)
			}
			if _, err := netip.ParseAddr(name); err == nil {
				t.Errorf("%q gives a name that is an address", text)
			}
		}
	})
}

func TestPorts(t *testing.T) {
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{}, "[] false"},
		{Rules{Full: true}, "[] true"},
		{Rules{Allow: []string{"a.org:443", "b.org:80", "c.org:443"}}, "[80 443] false"},
		{Rules{Allow: []string{"a.org:443", "b.org"}}, "[443] true"},
	} {
		ports, all := mustParse(t, c.rules).Ports()
		if got := fmt.Sprint(ports, all); got != c.want {
			t.Errorf("%v: %s, want %s", c.rules, got, c.want)
		}
	}
}
