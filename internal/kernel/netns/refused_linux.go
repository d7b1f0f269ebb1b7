package netns

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The key of the set of refused destinations, in registers of four bytes:
// protocol, destination port, and an IPv6 address, in which IPv4 is mapped.
const (
	keyProtocol = 0
	keyPort     = 4
	keyAddress  = 8
	keySize     = 24
)

func remember4() []byte {
	return join(
		immediate(keyAddress/4, []byte{10: 0xff, 11: 0xff}...), // ::ffff:0.0.0.0/96
		payload(unix.NFT_PAYLOAD_NETWORK_HEADER, destination4, 4, keyAddress/4+3),
		remember())
}

func remember6() []byte {
	return join(payload(unix.NFT_PAYLOAD_NETWORK_HEADER, destination6, 16, keyAddress/4), remember())
}

// remember adds the destination to the set. A full set takes no more, and the
// rule ends there.
func remember() []byte {
	return join(
		meta(unix.NFT_META_L4PROTO, keyProtocol/4),
		payload(unix.NFT_PAYLOAD_TRANSPORT_HEADER, destinationPort, 2, keyPort/4),
		expression("dynset", text(unix.NFTA_DYNSET_SET_NAME, refusedName), number(unix.NFTA_DYNSET_SET_ID, 1),
			number(unix.NFTA_DYNSET_OP, unix.NFT_DYNSET_OP_ADD), number(unix.NFTA_DYNSET_SREG_KEY, register(0))))
}

// Refusal is a destination that a program has sent packets to and that the
// rules of [Redirect] have refused.
type Refusal struct {
	// Protocol is udp, tcp, icmp, icmpv6 or a number.
	Protocol string
	// Destination has port 0 where the protocol has no ports.
	Destination netip.AddrPort
}

func (r Refusal) String() string {
	if r.Destination.Port() == 0 {
		return r.Protocol + " to " + r.Destination.Addr().String()
	}
	return r.Protocol + " to " + r.Destination.String()
}

// Refused lists what was refused so far, each destination once, at most 64 of
// them and in no order. The socket is [FilterSocket], on which [Redirect] was
// called.
func Refused(filter *os.File) ([]Refusal, error) {
	get := message("list refused destinations", unix.NFT_MSG_GETSETELEM, unix.NLM_F_DUMP,
		text(unix.NFTA_SET_ELEM_LIST_TABLE, tableName), text(unix.NFTA_SET_ELEM_LIST_SET, refusedName))
	seen := map[Refusal]bool{}
	var list []Refusal
	err := ask(filter, []request{get}, func(kind uint16, _ uint32, body []byte) (bool, error) {
		switch {
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return true, &StepError{get.step, syscall.Errno(-int32(native.Uint32(body)))}
		case kind != unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_NEWSETELEM || len(body) < 4:
			return true, fmt.Errorf("%s: the kernel answers with a message of type %d", get.step, kind)
		}
		eachKey(body[4:], func(key []byte) {
			if r, ok := decodeKey(key); ok && !seen[r] {
				seen[r] = true
				list = append(list, r)
			}
		})
		return false, nil
	})
	return list, err
}

// eachKey finds the keys in a message of set elements.
func eachKey(b []byte, visit func(key []byte)) {
	within := func(want uint16, then func([]byte)) func(uint16, []byte) {
		return func(kind uint16, value []byte) {
			if kind == want {
				then(value)
			}
		}
	}
	attrs(b, within(unix.NFTA_SET_ELEM_LIST_ELEMENTS, func(list []byte) {
		attrs(list, within(unix.NFTA_LIST_ELEM, func(element []byte) {
			attrs(element, within(unix.NFTA_SET_ELEM_KEY, func(key []byte) {
				attrs(key, within(unix.NFTA_DATA_VALUE, visit))
			}))
		}))
	}))
}

func decodeKey(key []byte) (Refusal, bool) {
	if len(key) != keySize {
		return Refusal{}, false
	}
	address := netip.AddrFrom16([16]byte(key[keyAddress:])).Unmap()
	port := binary.BigEndian.Uint16(key[keyPort:])
	protocol := fmt.Sprintf("protocol %d", key[keyProtocol])
	switch key[keyProtocol] {
	case unix.IPPROTO_TCP:
		protocol = "tcp"
	case unix.IPPROTO_UDP:
		protocol = "udp"
	case unix.IPPROTO_ICMP:
		protocol, port = "icmp", 0
	case unix.IPPROTO_ICMPV6:
		protocol, port = "icmpv6", 0
	default:
		port = 0
	}
	return Refusal{protocol, netip.AddrPortFrom(address, port)}, true
}
