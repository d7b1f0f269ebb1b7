package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// question makes a packet.
func question(t testing.TB, host string, kind dnsmessage.Type, change func(*dnsmessage.Message)) []byte {
	t.Helper()
	name, err := dnsmessage.NewName(host)
	if err != nil {
		t.Fatal(err)
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 4711, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: kind, Class: dnsmessage.ClassINET}},
	}
	if change != nil {
		change(&m)
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// said is an answer in short.
func said(t testing.TB, packet []byte) string {
	t.Helper()
	if packet == nil {
		return "nothing"
	}
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		t.Fatal(err)
	}
	if m.ID != 4711 || !m.Response || len(packet) > 512 {
		t.Errorf("%d bytes, %+v", len(packet), m.Header)
	}
	words := []string{strings.TrimPrefix(m.RCode.String(), "RCode")}
	for _, a := range m.Answers {
		switch a := a.Body.(type) {
		case *dnsmessage.AResource:
			words = append(words, netip.AddrFrom4(a.A).String())
		case *dnsmessage.AAAAResource:
			words = append(words, netip.AddrFrom16(a.AAAA).String())
		}
	}
	return strings.Join(words, " ")
}

var zone = map[string]string{
	"a.test": "93.184.216.34", "b.test": "93.184.216.35", "six.test": "2001:db8::1", "deep.er.test": "1.1.1.1",
	"public.example": "93.184.216.36 2606:2800:220:1::1", "broken.test": "broken", "_srv.test": "1.1.1.1",
	"mapped.example": "::ffff:93.184.216.37", "inside.example": "10.1.2.3", "many.example": strings.Repeat("93.184.216.34 ", 20),
}

// What a rule opens is not hidden, on whichever port.
func TestHiddenAddresses(t *testing.T) {
	p := mustParse(t, Rules{AllowDNS: true, Allow: []string{"10.1.2.3:80"}})
	for text, want := range map[string]bool{"10.1.2.3": false, "10.1.2.4": true, "::ffff:10.1.2.4": true, "93.184.216.34": false, "1.2.3.4": true} {
		if got := p.hides(netip.MustParseAddr(text), []netip.Prefix{netip.MustParsePrefix("1.2.3.4/32")}); got != want {
			t.Errorf("%s is hidden: %v", text, got)
		}
	}
}

func TestAnswers(t *testing.T) {
	const a, aaaa, txt, all, ptr = dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypeTXT, dnsmessage.TypeALL, dnsmessage.TypePTR
	for _, c := range []struct {
		policy    Rules
		host      string
		kind      dnsmessage.Type
		want      string
		violation string // part of the one that is wanted
	}{
		{Rules{Allow: []string{"a.test"}}, "a.test.", a, "Success 198.18.0.2", ""},
		{Rules{Allow: []string{"a.test"}}, "A.TEST.", a, "Success 198.18.0.2", ""},
		{Rules{Allow: []string{"a.test"}}, "a.test.", aaaa, "Success", ""},
		{Rules{Allow: []string{"a.test"}}, "a.test.", typeHTTPS, "Success", ""},
		{Rules{Allow: []string{"a.test"}}, "a.test.", typeSVCB, "Success", ""},
		{Rules{Allow: []string{"a.test"}}, "a.test.", txt, "Refused", "TXT query for a.test refused: only addresses"},
		{Rules{Allow: []string{"a.test"}}, "a.test.", all, "Refused", "ALL query for a.test refused"},
		{Rules{Allow: []string{"a.test"}}, "a.test.", 10, "Refused", "10 query for a.test refused"}, // NULL
		{Rules{Allow: []string{"a.test"}}, "2.0.18.198.in-addr.arpa.", ptr, "Refused", "PTR query"},
		{Rules{Allow: []string{"a.test"}}, "b.test.", a, "Refused", "name b.test refused: it is not in the allow-list"},
		{Rules{Allow: []string{"a.test"}}, "b.test.", aaaa, "Refused", "name b.test refused"},
		{Rules{Allow: []string{"a.test"}}, "b.test.", typeHTTPS, "Refused", "name b.test refused"},
		{Rules{Allow: []string{"*.test"}}, "deep.er.test.", a, "Success 198.18.0.2", ""},
		{Rules{Allow: []string{"*.test"}}, "test.", a, "Refused", "name test refused"},
		{Rules{Allow: []string{"*.test"}}, "missing.test.", a, "NameError", ""},
		{Rules{Allow: []string{"*.test"}}, "broken.test.", a, "ServerFailure", ""},
		{Rules{Allow: []string{"*.test"}}, "six.test.", a, "Success 198.18.0.2", ""},
		{Rules{Allow: []string{"*.test"}}, "_srv.test.", a, "Success 198.18.0.2", ""},
		{Rules{Allow: []string{"*.test"}}, "e vil.test.", a, "Refused", `name "e vil.test" refused: it is not a host name`},
		{Rules{Allow: []string{"*.test"}}, "\x1b]0;x\x07.test.", a, "Refused", `name "\x1b]0;x\a.test" refused: it is not a host name`},
		{Rules{Full: true}, "public.example.", a, "Success 198.18.0.2", ""},
		{Rules{Full: true}, "10.0.0.1.", a, "Refused", "it is not a host name"},
		{Rules{Full: true}, "host.docker.internal.", a, "Refused", "it is not in the allow-list"},
		{Rules{Allow: []string{"localhost"}}, "host.docker.internal.", a, "Success 198.18.0.2", ""},
		{Rules{Full: true, AllowDNS: true}, "host.docker.internal.", a, "Refused", "it is not in the allow-list"},
		{Rules{}, "localhost.", a, "Success 127.0.0.1", ""},
		{Rules{}, "a.localhost.", a, "Success 127.0.0.1", ""},
		{Rules{}, "localhost.", aaaa, "Success", ""},
		{Rules{AllowDNS: true}, "public.example.", a, "Success 93.184.216.36", ""},
		{Rules{AllowDNS: true}, "public.example.", aaaa, "Success 2606:2800:220:1::1", ""},
		{Rules{AllowDNS: true}, "a.test.", aaaa, "Success", ""},
		{Rules{AllowDNS: true}, "inside.example.", a, "Success", ""}, // an address that the host's resolver alone knows
		{Rules{AllowDNS: true}, "mapped.example.", a, "Success 93.184.216.37", ""},
		{Rules{AllowDNS: true}, "mapped.example.", aaaa, "Success", ""},
		{Rules{AllowDNS: true}, "a.test.", typeHTTPS, "Success", ""},
		{Rules{AllowDNS: true}, "missing.test.", a, "NameError", ""},
		{Rules{AllowDNS: true}, "many.example.", a, "Success" + strings.Repeat(" 93.184.216.34", 8), ""},
		{Rules{AllowDNS: true}, "public.example.", txt, "Refused", "TXT query"},
		{Rules{AllowDNS: true, Allow: []string{"a.test"}}, "a.test.", a, "Success 198.18.0.2", ""},
	} {
		t.Run(fmt.Sprintf("%v %q %v", c.policy, c.host, c.kind), func(t *testing.T) {
			r := New(t.Context(), Config{Policy: mustParse(t, c.policy), Resolver: &book{names: zone}})
			defer r.Close()
			if got := said(t, r.answer(t.Context(), question(t, c.host, c.kind, nil))); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			report := r.Report()
			if c.violation == "" && len(report.Violations) > 0 ||
				c.violation != "" && (len(report.Violations) != 1 || !strings.Contains(report.Violations[0], c.violation)) {
				t.Errorf("violations %q, want %q", report.Violations, c.violation)
			}
			if (len(report.Failures) > 0) != (c.want == "ServerFailure") {
				t.Errorf("failures %q", report.Failures)
			}
			if reported := len(report.Queries) > 0; reported != (c.policy.AllowDNS && !c.policy.Full && c.policy.Allow == nil && (c.kind == a || c.kind == aaaa)) {
				t.Errorf("queries %q", report.Queries)
			}
		})
	}
}

func TestOddPackets(t *testing.T) {
	r := New(t.Context(), Config{Policy: mustParse(t, Rules{Full: true}), Resolver: &book{names: zone}})
	defer r.Close()
	for name, c := range map[string]struct {
		packet []byte
		want   string
	}{
		"empty":         {nil, "nothing"},
		"short":         {make([]byte, 11), "nothing"},
		"an answer":     {question(t, "a.test.", 1, func(m *dnsmessage.Message) { m.Response = true }), "nothing"},
		"no question":   {question(t, "a.test.", 1, func(m *dnsmessage.Message) { m.Questions = nil }), "FormatError"},
		"two questions": {question(t, "a.test.", 1, func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) }), "FormatError"},
		"cut":           {question(t, "a.test.", 1, nil)[:15], "FormatError"},
		"update":        {question(t, "a.test.", 1, func(m *dnsmessage.Message) { m.OpCode = 5 }), "NotImplemented"},
		"class chaos":   {question(t, "version.bind.", 16, func(m *dnsmessage.Message) { m.Questions[0].Class = 3 }), "Refused"},
		"with EDNS": {question(t, "a.test.", 1, func(m *dnsmessage.Message) {
			var h dnsmessage.ResourceHeader
			h.SetEDNS0(4096, dnsmessage.RCodeSuccess, false)
			m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
		}), "Success 198.18.0.2"},
	} {
		if got := said(t, r.answer(t.Context(), c.packet)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Whatever comes is answered with at most 512 bytes, or not at all.
func FuzzAnswer(f *testing.F) {
	f.Add(question(f, "a.test.", 1, nil))
	f.Add(question(f, "evil\x00.test.", 16, nil))
	f.Add(question(f, "a.localhost.", 28, nil))
	policy := mustParse(f, Rules{Allow: []string{"*.test"}, AllowDNS: true})
	f.Fuzz(func(t *testing.T, packet []byte) {
		r := New(t.Context(), Config{Policy: policy, Resolver: &book{names: zone}})
		defer r.Close()
		if answer := r.answer(t.Context(), packet); len(answer) > 512 {
			t.Errorf("%d bytes for %d", len(answer), len(packet))
		}
		report := r.Report()
		for _, line := range slices.Concat(report.Violations, report.Queries, report.Failures) {
			if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("a line that is not safe to print: %q", line)
			}
		}
	})
}

func TestMaxNames(t *testing.T) {
	names := &book{names: map[string]string{}}
	for i := range 6 {
		names.names[fmt.Sprintf("n%d.test", i)] = "93.184.216.34"
	}
	r := New(t.Context(), Config{Policy: mustParse(t, Rules{Allow: []string{"*.test"}}), Resolver: names, MaxNames: 3})
	defer r.Close()
	for i, want := range []string{"Success 198.18.0.2", "Success 198.18.0.3", "Success 198.18.0.4", "Refused", "Refused"} {
		if got := said(t, r.answer(t.Context(), question(t, fmt.Sprintf("n%d.test.", i), 1, nil))); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if got := said(t, r.answer(t.Context(), question(t, "n1.test.", 1, nil))); got != "Success 198.18.0.3" {
		t.Errorf("a name that has its address: %q", got)
	}
	report := r.Report()
	if len(report.Violations) != 2 || !strings.Contains(report.Violations[0], "3 names were looked up already") || len(names.asked) != 3 {
		t.Errorf("%q, asked %q", report.Violations, names.asked)
	}
}

// Names that do not exist count as well.
func TestMaxNamesThatAreNone(t *testing.T) {
	names := &book{}
	r := New(t.Context(), Config{Policy: mustParse(t, Rules{Full: true}), Resolver: names, MaxNames: 3})
	defer r.Close()
	for i, want := range []string{"NameError", "NameError", "NameError", "Refused"} {
		if got := said(t, r.answer(t.Context(), question(t, fmt.Sprintf("n%d.test.", i), 1, nil))); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if len(names.asked) != 3 {
		t.Errorf("asked %q", names.asked)
	}
}

// Of a name with thousands of addresses few are kept, and whoever asks for such waits.
func TestManyAddresses(t *testing.T) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "93.184.%d.%d 2606:2800::%x ", i/256, i%256, i)
	}
	r := New(t.Context(), Config{Policy: mustParse(t, Rules{Full: true}), Resolver: &book{names: map[string]string{"many.test": text.String()}}})
	defer r.Close()
	before := r.lookupPace.Tokens()
	r.inside(t.Context(), "many.test")
	kept := r.names.find("many.test").kept()
	if len(kept) != 2*maxAddresses || cap(kept) > 4*maxAddresses || !kept[0].Is4() || !kept[len(kept)-1].Is6() {
		t.Errorf("%d addresses of %d", len(kept), cap(kept))
	}
	if after := r.lookupPace.Tokens(); before-after < lookupBurst/2 {
		t.Errorf("a look-up took %v of %v", before-after, before)
	}
}

func TestMaxQueries(t *testing.T) {
	names := &book{names: zone}
	r := New(t.Context(), Config{Policy: mustParse(t, Rules{AllowDNS: true}), Resolver: names, MaxQueries: 2})
	defer r.Close()
	for i, want := range []string{"Success 93.184.216.34", "Success 93.184.216.34", "Refused", "Refused"} {
		if got := said(t, r.answer(t.Context(), question(t, "a.test.", 1, nil))); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	report := r.Report()
	if !slices.Equal(report.Queries, []string{"A a.test (2 times)"}) || len(report.Violations) != 1 || len(names.asked) != 2 {
		t.Errorf("%+v, %q", report, names.asked)
	}
}

// A connection soon after the question does not ask again.
func TestAddressesAreKept(t *testing.T) {
	names := &book{names: map[string]string{"a.test": "93.184.216.34"}}
	r := New(t.Context(), Config{Policy: mustParse(t, Rules{Full: true}), Resolver: names})
	defer r.Close()
	r.inside(t.Context(), "a.test")
	n := r.names.find("a.test")
	for range 2 {
		if found, err := r.addresses(t.Context(), n); len(found) != 1 || err != nil {
			t.Error(found, err)
		}
	}
	n.keep(nil) // as after answerLife
	r.addresses(t.Context(), n)
	if want := []string{"a.test.", "a.test."}; !slices.Equal(names.asked, want) {
		t.Errorf("asked for %q, want %q", names.asked, want)
	}
}

// The real resolver of Go gets along with the name server, over UDP and TCP.
func TestNameServer(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		b := newRig(t, Config{Policy: mustParse(t, Rules{Allow: []string{"*.test"}}), Resolver: &book{names: zone}})
		b.to.Store(netip.MustParseAddrPort("8.8.8.8:53"))
		udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		b.r.ServeUDP(udp)
		resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			address := udp.LocalAddr().String()
			if network == "tcp" {
				address = b.l.Addr().String()
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}}
		ctx := t.Context()
		found, err := resolver.LookupNetIP(ctx, "ip", "a.test.")
		if err != nil || len(found) != 1 || found[0].Unmap() != netip.MustParseAddr("198.18.0.2") {
			t.Errorf("%s: %v, %v", network, found, err)
		}
		_, err = resolver.LookupNetIP(ctx, "ip", "missing.test.")
		if dnsErr, ok := err.(*net.DNSError); !ok || !dnsErr.IsNotFound {
			t.Errorf("%s: a name that does not exist: %v", network, err)
		}
		if _, err = resolver.LookupNetIP(ctx, "ip", "evil.example."); err == nil || strings.Contains(err.Error(), "no such host") {
			t.Errorf("%s: a name that is refused: %v", network, err)
		}
	}
}
