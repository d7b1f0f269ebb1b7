package netns

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Port is where the listener and the name server are, on every address of the
// namespace: the one port that programs in it cannot listen on themselves.
const Port = 53

// Socket says how a socket is to be made inside the namespace, before the
// programs' own user namespace: with O_CLOEXEC, then its options, then bind and
// listen where they are wanted. [Socket.Make] does it; an init may as well.
type Socket struct {
	// Name says what it is for, in words that make sense behind "cannot make".
	Name                   string
	Family, Type, Protocol int
	Options                []Option
	// Address is the struct sockaddr_in to bind to; nil means not to.
	Address []byte
	// Backlog is for listen(2); zero means not to.
	Backlog int
}

// Make makes the socket in the namespace of the thread that calls it.
func (s Socket) Make() (*os.File, error) {
	fd, err := unix.Socket(s.Family, s.Type|unix.SOCK_CLOEXEC, s.Protocol)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", s.Name, err)
	}
	f := os.NewFile(uintptr(fd), s.Name)
	if err := s.setUp(fd); err != nil {
		f.Close()
		return nil, fmt.Errorf("set up %s: %w", s.Name, err)
	}
	return f, nil
}

func (s Socket) setUp(fd int) error {
	for _, o := range s.Options {
		if err := unix.SetsockoptInt(fd, o.Level, o.Name, o.Value); err != nil {
			return err
		}
	}
	if s.Address != nil {
		port, address := binary.BigEndian.Uint16(s.Address[2:]), [4]byte(s.Address[4:8])
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(port), Addr: address}); err != nil {
			return err
		}
	}
	if s.Backlog > 0 {
		return unix.Listen(fd, s.Backlog)
	}
	return nil
}

// Option is a socket option, an int.
type Option struct{ Level, Name, Value int }

// RouteSocket is what [RouteAll] talks through. It is needed no more afterwards.
func RouteSocket() Socket {
	return Socket{Name: "the socket for routes", Family: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_ROUTE}
}

// FilterSocket is what [Redirect] and [Refused] talk through. A kernel without
// netfilter's netlink refuses it with EPROTONOSUPPORT.
func FilterSocket() Socket {
	return Socket{Name: "the socket for nftables", Family: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_NETFILTER}
}

// backlog is how many connections wait to be accepted; the kernel lowers it to
// net.core.somaxconn.
const backlog = 512

// ListenSockets are the name server's UDP socket, first, and TCP listeners: the
// one on [Port], and one for each further port. With [Redirect] there is no
// need for further ones.
func ListenSockets(ports ...uint16) []Socket {
	sockets := []Socket{
		{Name: "the name server's socket", Family: unix.AF_INET, Type: unix.SOCK_DGRAM, Address: anyAddress(Port)},
		listener(Port),
	}
	for _, port := range ports {
		if port != Port {
			sockets = append(sockets, listener(port))
		}
	}
	return sockets
}

func listener(port uint16) Socket {
	return Socket{
		Name: "a listener", Family: unix.AF_INET, Type: unix.SOCK_STREAM, Backlog: backlog, Address: anyAddress(port),
		// Without it, tproxy does not hand connections to other ports to a listener.
		Options: []Option{{unix.SOL_IP, unix.IP_TRANSPARENT, 1}},
	}
}

// anyAddress is struct sockaddr_in of 0.0.0.0.
func anyAddress(port uint16) []byte {
	b := native.AppendUint16(nil, unix.AF_INET)
	b = binary.BigEndian.AppendUint16(b, port)
	return append(b, make([]byte, unix.SizeofSockaddrInet4-len(b))...)
}

// Listener makes a listener of a descriptor that came out of the namespace. The
// local address of what it accepts is what the program has connected to. It
// closes the file.
func Listener(f *os.File) (net.Listener, error) {
	defer f.Close()
	return net.FileListener(f)
}

// UDPConn does the same for the name server's socket.
func UDPConn(f *os.File) (*net.UDPConn, error) {
	defer f.Close()
	conn, err := net.FilePacketConn(f)
	if err != nil {
		return nil, err
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("the name server's socket is of type %T", conn)
	}
	return udp, nil
}
