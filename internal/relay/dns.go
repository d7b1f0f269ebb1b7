package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// typeSVCB and typeHTTPS tell how to connect to a host (RFC 9460). Programs ask
// for them beside addresses and go on when there are none.
const (
	typeSVCB  dnsmessage.Type = 64
	typeHTTPS dnsmessage.Type = 65
)

// answerTTL is in seconds. An address inside never changes; one that is real is
// good for as long as we keep it.
const answerTTL = 30

// maxAddresses are what is taken of a name's, of each family: they fit into the 512 bytes
// that every program takes, whatever the name.
const maxAddresses = 8

// reply is what a question comes to.
type reply struct {
	code      dnsmessage.RCode
	addresses []netip.Addr
}

var (
	nothing = reply{code: dnsmessage.RCodeSuccess}
	refused = reply{code: dnsmessage.RCodeRefused}
)

// answer makes the answer to a packet; nil means none.
func (r *Relay) answer(ctx context.Context, packet []byte) []byte {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil || header.Response {
		return nil
	}
	question, err := p.Question()
	var what reply
	switch _, second := p.Question(); {
	case err != nil || !errors.Is(second, dnsmessage.ErrSectionDone):
		return write(header, nil, reply{code: dnsmessage.RCodeFormatError})
	case header.OpCode != 0:
		what.code = dnsmessage.RCodeNotImplemented
	case question.Class != dnsmessage.ClassINET:
		what = refused
	default:
		what = r.decide(ctx, question)
	}
	return write(header, &question, what)
}

func write(asked dnsmessage.Header, question *dnsmessage.Question, what reply) []byte {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{
		ID: asked.ID, Response: true, OpCode: asked.OpCode, RCode: what.code,
		RecursionDesired: asked.RecursionDesired, RecursionAvailable: true,
	})
	b.EnableCompression()
	if question != nil {
		if b.StartQuestions() != nil || b.Question(*question) != nil || b.StartAnswers() != nil {
			return nil
		}
		header := dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class, TTL: answerTTL}
		for _, a := range what.addresses {
			if a.Is4() {
				_ = b.AResource(header, dnsmessage.AResource{A: a.As4()}) // a name that was parsed fits
			} else {
				_ = b.AAAAResource(header, dnsmessage.AAAAResource{AAAA: a.As16()})
			}
		}
	}
	packet, err := b.Finish()
	if err != nil {
		return nil
	}
	return packet
}

// decide holds a question against the policy.
func (r *Relay) decide(ctx context.Context, q dnsmessage.Question) reply {
	text := strings.TrimSuffix(q.Name.String(), ".")
	host, ok := hostName(text)
	switch {
	case ok && isLocalName(host):
		if q.Type == dnsmessage.TypeA {
			return reply{addresses: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}}
		}
		return nothing
	case !isAddressType(q.Type):
		r.violations.add("%s query for %s refused: only addresses of names are answered", typeName(q.Type), quote(text))
		return refused
	case ok && r.config.Policy.allowsName(host):
		if q.Type == dnsmessage.TypeA {
			return r.inside(ctx, host)
		}
		return nothing // there is no IPv6 inside
	case ok && r.config.Policy.dns && host != HostName:
		if q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeAAAA {
			return r.outside(ctx, host, q.Type)
		}
		return nothing
	}
	rule := "it is not in the allow-list"
	if !ok {
		rule = "it is not a host name"
	}
	r.violations.add("name %s refused: %s", quote(text), rule)
	return refused
}

func isAddressType(t dnsmessage.Type) bool {
	return t == dnsmessage.TypeA || t == dnsmessage.TypeAAAA || t == typeHTTPS || t == typeSVCB
}

func typeName(t dnsmessage.Type) string { return strings.TrimPrefix(t.String(), "Type") }

// inside gives an allowed name its address, once we know that it exists: a
// program should hear of a misspelt name where it expects to. Through a proxy
// names may exist that this host does not know.
func (r *Relay) inside(ctx context.Context, host string) reply {
	n := r.names.find(host)
	if n == nil {
		if r.newNames.Add(1) > int64(r.config.MaxNames) {
			r.violations.add("name %s refused: %d names were looked up already, the most for one process", quote(host), r.config.MaxNames)
			return refused
		}
		var found []netip.Addr
		if r.config.Proxy == nil {
			var err error
			if found, err = r.resolve(ctx, host); err != nil {
				return r.unresolved(host, err)
			}
		}
		n = r.names.add(host, found)
	}
	return reply{addresses: []netip.Addr{n.inside}}
}

// outside answers with real addresses, to which nothing can be connected. Those of networks that are
// closed are nobody's business: the host's resolver may know more than the world's.
func (r *Relay) outside(ctx context.Context, host string, kind dnsmessage.Type) reply {
	if r.asked.Add(1) > int64(r.config.MaxQueries) {
		r.violations.add("names refused: %d queries for names that are not allowed were answered, the most in one container", r.config.MaxQueries)
		return refused
	}
	r.queries.add("%s %s", typeName(kind), host)
	if r.queryPace.Wait(ctx) != nil {
		return reply{code: dnsmessage.RCodeServerFailure}
	}
	found, err := r.resolve(ctx, host)
	if err != nil {
		return r.unresolved(host, err)
	}
	own, err := r.ownAddresses()
	if err != nil {
		return r.unresolved(host, fmt.Errorf("cannot tell this host's own addresses: %w", err))
	}
	var what reply
	for _, a := range found {
		if a = a.Unmap(); a.Is4() == (kind == dnsmessage.TypeA) && len(what.addresses) < maxAddresses && !r.config.Policy.hides(a, own) {
			what.addresses = append(what.addresses, a)
		}
	}
	return what
}

// unresolved tells a name that does not exist from a resolver that failed.
func (r *Relay) unresolved(host string, err error) reply {
	var dnsErr *net.DNSError
	if errors.As(err, &dnsErr) && dnsErr.IsNotFound {
		return reply{code: dnsmessage.RCodeNameError}
	}
	r.failures.add("name %s could not be resolved: %s", quote(host), reason(err))
	return reply{code: dnsmessage.RCodeServerFailure}
}
