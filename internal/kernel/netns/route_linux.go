package netns

import (
	"os"

	"golang.org/x/sys/unix"
)

// loopback is the index of lo, the first interface of every namespace.
const loopback = 1

// RouteAll brings the loopback up and makes every address one of the
// namespace's own: whatever a program connects to ends in this namespace, at
// one of our listeners or at none. The socket is [RouteSocket].
func RouteAll(route *os.File) error {
	if err := carryOut(route, []request{linkUp(), localRoute("route every IPv4 address to lo", unix.AF_INET)}); err != nil {
		return err
	}
	// IPv6 comes here for its refusals to have a name. Where the kernel has
	// none, or has switched it off for this namespace, there is nothing to name.
	_ = carryOut(route, []request{localRoute("route every IPv6 address to lo", unix.AF_INET6)})
	return nil
}

func linkUp() request {
	b := make([]byte, unix.SizeofIfInfomsg) // family, type, index, flags, mask of flags
	native.PutUint32(b[4:], loopback)
	native.PutUint32(b[8:], unix.IFF_UP)
	native.PutUint32(b[12:], unix.IFF_UP)
	return request{"bring lo up", unix.RTM_NEWLINK, unix.NLM_F_ACK, b}
}

func localRoute(step string, family byte) request {
	message := []byte{
		family, 0, 0, 0, // and the lengths of destination and source, and the type of service
		unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL,
		0, 0, 0, 0, // flags
	}
	body := join(message, attr(unix.RTA_OIF, native.AppendUint32(nil, loopback)))
	return request{step, unix.RTM_NEWROUTE, unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_EXCL, body}
}
