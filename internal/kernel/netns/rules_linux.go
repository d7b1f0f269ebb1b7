package netns

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// Names inside the namespace; nobody else has rules there.
const (
	tableName   = "sandbox"
	refusedName = "refused"
)

// maxRefused is how many refused destinations the kernel keeps for [Refused].
const maxRefused = 64

// Redirect loads the rules: every TCP connection that does not stay on
// 127.0.0.0/8 is accepted by the listener on [Port], whatever its port, and
// keeps the address that the program asked for as its local one. What is
// neither TCP nor a question to a name server fails at once and is remembered.
// As nft shows them:
//
//	table inet sandbox {
//		set refused { typeof meta l4proto . th dport . ip6 daddr; size 64; flags dynamic; }
//		chain arrive {
//			type filter hook prerouting priority mangle; policy accept;
//			ip daddr & 255.0.0.0 != 127.0.0.0 meta l4proto tcp tproxy ip to :53
//		}
//		chain leave {
//			type filter hook output priority filter; policy drop;
//			ip daddr & 255.0.0.0 == 127.0.0.0 accept
//			ip6 daddr ::1 accept
//			meta nfproto ipv4 meta l4proto tcp accept
//			meta nfproto ipv4 udp dport 53 accept
//			meta nfproto ipv4 udp sport 53 accept
//			meta nfproto ipv4 add @refused { meta l4proto . th dport . ip daddr }
//			meta nfproto ipv6 add @refused { meta l4proto . th dport . ip6 daddr }
//			meta nfproto ipv6 meta l4proto tcp reject with tcp reset
//		}
//	}
//
// tproxy and not redirect, because it needs no connection tracking, whose
// entries outlive connections and are charged to nobody. What is dropped on the
// way out fails in the sender's own system call; a TCP connection over IPv6
// would go on trying and is reset instead. (An ICMP error would find its socket
// busy with connect(2), and be tried again after a second.) The reset passes as
// loopback: ::1 is the only address that IPv6 is sent from.
//
// The socket is [FilterSocket]. An error says that this kernel, or its
// configuration, cannot do it; then [ListenSockets] with ports is what is left.
func Redirect(filter *os.File) error { return carryOut(filter, batch(ruleset())) }

func ruleset() []request {
	return []request{
		create("nftables table", unix.NFT_MSG_NEWTABLE, text(unix.NFTA_TABLE_NAME, tableName)),
		create("nftables set", unix.NFT_MSG_NEWSET,
			text(unix.NFTA_SET_TABLE, tableName), text(unix.NFTA_SET_NAME, refusedName),
			number(unix.NFTA_SET_ID, 1), number(unix.NFTA_SET_FLAGS, unix.NFT_SET_EVAL),
			number(unix.NFTA_SET_KEY_TYPE, 0), number(unix.NFTA_SET_KEY_LEN, keySize),
			nested(unix.NFTA_SET_DESC, number(unix.NFTA_SET_DESC_SIZE, maxRefused))),
		chain("arrive", unix.NF_INET_PRE_ROUTING, priorityMangle, verdictAccept),
		rule("nftables tproxy", "arrive", isFamily(unix.NFPROTO_IPV4), notLoopback4(), isProtocol(unix.IPPROTO_TCP), tproxy(Port)),
		chain("leave", unix.NF_INET_LOCAL_OUT, priorityFilter, verdictDrop),
		rule("nftables loopback", "leave", isFamily(unix.NFPROTO_IPV4), loopback4(), accept()),
		rule("nftables IPv6 loopback", "leave", isFamily(unix.NFPROTO_IPV6), loopback6(), accept()),
		rule("nftables TCP", "leave", isFamily(unix.NFPROTO_IPV4), isProtocol(unix.IPPROTO_TCP), accept()),
		rule("nftables DNS questions", "leave", isFamily(unix.NFPROTO_IPV4), isProtocol(unix.IPPROTO_UDP), isPort(destinationPort, Port), accept()),
		rule("nftables DNS answers", "leave", isFamily(unix.NFPROTO_IPV4), isProtocol(unix.IPPROTO_UDP), isPort(sourcePort, Port), accept()),
		rule("nftables refused IPv4", "leave", isFamily(unix.NFPROTO_IPV4), remember4()),
		rule("nftables refused IPv6", "leave", isFamily(unix.NFPROTO_IPV6), remember6()),
		rule("nftables reject", "leave", isFamily(unix.NFPROTO_IPV6), isProtocol(unix.IPPROTO_TCP), rejectTCP()),
	}
}

// What x/sys does not have of linux/netfilter.h, linux/netfilter_ipv4.h and
// linux/netfilter/nf_tables.h.
const (
	verdictDrop   = 0 // NF_DROP
	verdictAccept = 1 // NF_ACCEPT

	priorityMangle = -150
	priorityFilter = 0

	tproxyFamily  = 1 // NFTA_TPROXY_FAMILY
	tproxyRegPort = 3 // NFTA_TPROXY_REG_PORT
)

// batch puts requests between the messages that make them one transaction.
func batch(requests []request) []request {
	body := []byte{unix.AF_UNSPEC, unix.NFNETLINK_V0, 0, unix.NFNL_SUBSYS_NFTABLES} // the subsystem, big endian
	all := append([]request{{"nftables", unix.NFNL_MSG_BATCH_BEGIN, 0, body}}, requests...)
	return append(all, request{"nftables", unix.NFNL_MSG_BATCH_END, 0, body})
}

func message(step string, kind, flags uint16, attrs ...[]byte) request {
	header := []byte{unix.NFPROTO_INET, unix.NFNETLINK_V0, 0, 0}
	return request{step, unix.NFNL_SUBSYS_NFTABLES<<8 | kind, flags, append(header, join(attrs...)...)}
}

func create(step string, kind uint16, attrs ...[]byte) request {
	return message(step, kind, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL, attrs...)
}

func chain(name string, hook uint32, priority int32, policy uint32) request {
	return create("nftables chain "+name, unix.NFT_MSG_NEWCHAIN,
		text(unix.NFTA_CHAIN_TABLE, tableName), text(unix.NFTA_CHAIN_NAME, name), text(unix.NFTA_CHAIN_TYPE, "filter"),
		nested(unix.NFTA_CHAIN_HOOK, number(unix.NFTA_HOOK_HOOKNUM, hook), number(unix.NFTA_HOOK_PRIORITY, uint32(priority))),
		number(unix.NFTA_CHAIN_POLICY, policy))
}

func rule(step, chain string, expressions ...[]byte) request {
	return message(step, unix.NFT_MSG_NEWRULE, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_APPEND,
		text(unix.NFTA_RULE_TABLE, tableName), text(unix.NFTA_RULE_CHAIN, chain), nested(unix.NFTA_RULE_EXPRESSIONS, expressions...))
}

func expression(name string, attrs ...[]byte) []byte {
	return nested(unix.NFTA_LIST_ELEM, text(unix.NFTA_EXPR_NAME, name), nested(unix.NFTA_EXPR_DATA, attrs...))
}

// register is the n-th of the four-byte registers that expressions work on.
func register(n uint32) uint32 { return unix.NFT_REG32_00 + n }

func meta(key, to uint32) []byte {
	return expression("meta", number(unix.NFTA_META_KEY, key), number(unix.NFTA_META_DREG, register(to)))
}

func payload(base, offset, size, to uint32) []byte {
	return expression("payload", number(unix.NFTA_PAYLOAD_BASE, base), number(unix.NFTA_PAYLOAD_OFFSET, offset),
		number(unix.NFTA_PAYLOAD_LEN, size), number(unix.NFTA_PAYLOAD_DREG, register(to)))
}

func compare(op uint32, value ...byte) []byte {
	return expression("cmp", number(unix.NFTA_CMP_SREG, register(0)), number(unix.NFTA_CMP_OP, op),
		nested(unix.NFTA_CMP_DATA, attr(unix.NFTA_DATA_VALUE, value)))
}

func immediate(to uint32, value ...byte) []byte {
	return expression("immediate", number(unix.NFTA_IMMEDIATE_DREG, register(to)),
		nested(unix.NFTA_IMMEDIATE_DATA, attr(unix.NFTA_DATA_VALUE, value)))
}

func accept() []byte {
	return expression("immediate", number(unix.NFTA_IMMEDIATE_DREG, unix.NFT_REG_VERDICT),
		nested(unix.NFTA_IMMEDIATE_DATA, nested(unix.NFTA_DATA_VERDICT, number(unix.NFTA_VERDICT_CODE, verdictAccept))))
}

func isFamily(family byte) []byte {
	return join(meta(unix.NFT_META_NFPROTO, 0), compare(unix.NFT_CMP_EQ, family))
}

func isProtocol(protocol byte) []byte {
	return join(meta(unix.NFT_META_L4PROTO, 0), compare(unix.NFT_CMP_EQ, protocol))
}

// Where the destination is in an IP header.
const destination4, destination6 = 16, 24

func loopback4() []byte {
	return join(payload(unix.NFT_PAYLOAD_NETWORK_HEADER, destination4, 1, 0), compare(unix.NFT_CMP_EQ, 127))
}

func notLoopback4() []byte {
	return join(payload(unix.NFT_PAYLOAD_NETWORK_HEADER, destination4, 1, 0), compare(unix.NFT_CMP_NEQ, 127))
}

func loopback6() []byte {
	return join(payload(unix.NFT_PAYLOAD_NETWORK_HEADER, destination6, 16, 0), compare(unix.NFT_CMP_EQ, []byte{15: 1}...))
}

// sourcePort and destinationPort are where they are in a transport header.
const sourcePort, destinationPort = 0, 2

func isPort(offset uint32, port uint16) []byte {
	return join(payload(unix.NFT_PAYLOAD_TRANSPORT_HEADER, offset, 2, 0), compare(unix.NFT_CMP_EQ, binary.BigEndian.AppendUint16(nil, port)...))
}

func tproxy(port uint16) []byte {
	return join(immediate(0, binary.BigEndian.AppendUint16(nil, port)...),
		expression("tproxy", number(tproxyFamily, unix.NFPROTO_IPV4), number(tproxyRegPort, register(0))))
}

func rejectTCP() []byte {
	return expression("reject", number(unix.NFTA_REJECT_TYPE, unix.NFT_REJECT_TCP_RST))
}
