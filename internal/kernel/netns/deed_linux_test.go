package netns_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// do is a program in a room: one that does something with the network and says
// how that went.
func do(args []string) int {
	deeds := map[string]func(args []string) (string, error){
		"get": get, "dial": dial, "udp": sendUDP, "ask": ask, "socket": openSocket,
		"loopback": useLoopback, "route": changeRoute, "transfer": transfer, "read": readFile, "connect": connectMany, "fill": fill,
	}
	deed, ok := deeds[args[0]]
	if !ok {
		fmt.Printf("no deed %q\n", args)
		return 99
	}
	said, err := deed(args[1:])
	var errno syscall.Errno
	if errors.As(err, &errno) {
		said += unix.ErrnoName(errno)
	} else if err != nil {
		said += err.Error()
	}
	fmt.Print(said)
	return 0
}

func get(args []string) (string, error) {
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Get(args[0])
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return string(b), err
}

// dial connects and waits for a byte, since a refusal may come after connect.
func dial(args []string) (string, error) {
	conn, err := net.DialTimeout(args[0], args[1], 20*time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	n, err := conn.Read(make([]byte, 1))
	return fmt.Sprintf("%d bytes ", n), err
}

func sendUDP(args []string) (string, error) {
	conn, err := net.Dial("udp", args[0])
	if err != nil {
		return "", err
	}
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte("out with it")); err != nil {
		return "", err
	}
	n, err := conn.Read(make([]byte, 100))
	return fmt.Sprintf("%d bytes ", n), err
}

// ask sends one question, "network server type name [local address]".
func ask(args []string) (string, error) {
	var d net.Dialer
	if len(args) > 4 {
		d.LocalAddr = &net.UDPAddr{IP: net.ParseIP(args[4])}
	}
	conn, err := d.Dial(args[0], args[1])
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	kind, _ := strconv.Atoi(args[2])
	name, err := dnsmessage.NewName(args[3] + ".")
	if err != nil {
		return "", err
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{
		{Name: name, Type: dnsmessage.Type(kind), Class: dnsmessage.ClassINET}}}
	packet, err := m.Pack()
	if err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	var n int
	if args[0] == "tcp" {
		conn.Write(append([]byte{byte(len(packet) >> 8), byte(len(packet))}, packet...))
		if n, err = io.ReadAtLeast(conn, b, 14); err == nil {
			b, n = b[2:], n-2
		}
	} else {
		conn.Write(packet)
		n, err = conn.Read(b)
	}
	if err != nil {
		return "", err
	}
	if err := m.Unpack(b[:n]); err != nil {
		return "", err
	}
	said := []string{strings.TrimPrefix(m.RCode.String(), "RCode")}
	for _, a := range m.Answers {
		if a, ok := a.Body.(*dnsmessage.AResource); ok {
			said = append(said, net.IP(a.A[:]).String())
		}
	}
	return strings.Join(said, " "), nil
}

// openSocket tries to open a socket of some kind.
func openSocket(args []string) (string, error) {
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(args[i])
	}
	fd, err := unix.Socket(n[0], n[1], n[2])
	if err != nil {
		return "", err
	}
	unix.Close(fd)
	return "open", nil
}

// fill makes a number of connections to an address, sends as much as goes into each, and
// leaves.
func fill(args []string) (string, error) {
	n, err := strconv.Atoi(args[1])
	for range n {
		conn, dialErr := net.Dial("tcp", args[0])
		if dialErr != nil {
			return "", dialErr
		}
		raw, rawErr := conn.(*net.TCPConn).SyscallConn()
		if rawErr != nil {
			return "", rawErr
		}
		chunk := make([]byte, 64<<10)
		err = errors.Join(err, raw.Control(func(fd uintptr) {
			for full := error(nil); full == nil; {
				_, full = unix.Write(int(fd), chunk)
			}
		}))
	}
	return "full", err
}

// useLoopback talks to itself through the loopback, by TCP and by UDP.
func useLoopback(args []string) (string, error) {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return "", err
	}
	go func() {
		conn, err := l.Accept()
		if err == nil {
			fmt.Fprint(conn, "hello")
			conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(conn)
	if err != nil {
		return "", err
	}
	u, err := net.ListenPacket("udp", args[0])
	if err != nil {
		return "", err
	}
	u.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := u.WriteTo([]byte(" hello"), u.LocalAddr()); err != nil {
		return "", err
	}
	more := make([]byte, 10)
	n, _, err := u.ReadFrom(more)
	return string(b) + string(more[:n]), err
}

// changeRoute tries to take down lo.
func changeRoute([]string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return "", err
	}
	ifr, _ := unix.NewIfreq("lo")
	ifr.SetUint16(0)
	return "lo is down", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// transfer reads everything from an address and says how fast that was.
func transfer(args []string) (string, error) {
	conn, err := net.Dial("tcp", args[0])
	if err != nil {
		return "", err
	}
	start := time.Now()
	n, err := io.Copy(io.Discard, conn)
	return fmt.Sprintf("%d %d", n, time.Since(start).Nanoseconds()), err
}

func readFile(args []string) (string, error) {
	b, err := os.ReadFile(args[0])
	return string(b), err
}

// connectMany connects again and again, and reads a byte each time.
func connectMany(args []string) (string, error) {
	times, _ := strconv.Atoi(args[1])
	var total time.Duration
	for range times {
		start := time.Now()
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			return "", err
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return "", err
		}
		total += time.Since(start)
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
	return fmt.Sprint(total.Nanoseconds() / int64(times)), nil
}
