package relay

import (
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// localRoutes are the networks that the kernel takes for this host's own, whatever its
// interfaces have. A route for every address is none of them: with it a network namespace
// hands all that leaves it to a relay, as ours do.
func localRoutes() ([]netip.Prefix, error) {
	data, err := syscall.NetlinkRIB(unix.RTM_GETROUTE, unix.AF_UNSPEC)
	if err != nil {
		return nil, os.NewSyscallError("list routes", err)
	}
	messages, err := syscall.ParseNetlinkMessage(data)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var list []netip.Prefix
	for _, m := range messages {
		if m.Header.Type != unix.RTM_NEWROUTE || len(m.Data) < unix.SizeofRtMsg {
			continue
		}
		bits, table, kind := m.Data[1], m.Data[4], m.Data[7] // struct rtmsg
		if table != unix.RT_TABLE_LOCAL || kind != unix.RTN_LOCAL || bits == 0 {
			continue
		}
		attributes, err := syscall.ParseNetlinkRouteAttr(&m)
		if err != nil {
			return nil, fmt.Errorf("list routes: %w", err)
		}
		for _, a := range attributes {
			if to, ok := netip.AddrFromSlice(a.Value); ok && a.Attr.Type == unix.RTA_DST {
				list = append(list, netip.PrefixFrom(to, int(bits)))
			}
		}
	}
	return list, nil
}
