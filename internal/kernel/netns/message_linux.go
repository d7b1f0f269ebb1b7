package netns

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// StepError says which request to the kernel failed. It unwraps to the errno.
type StepError struct {
	Step  string
	Errno syscall.Errno
}

func (e *StepError) Error() string { return e.Step + ": " + e.Errno.Error() }

// Unwrap gives the errno, for errors.Is.
func (e *StepError) Unwrap() error { return e.Errno }

// request is one netlink message and what it is for.
type request struct {
	step  string
	kind  uint16
	flags uint16
	body  []byte
}

// native is the byte order of netlink itself; what netfilter puts into its
// attributes is big endian.
var native = binary.NativeEndian

func attr(kind uint16, value []byte) []byte {
	b := native.AppendUint16(nil, uint16(unix.SizeofNlAttr+len(value)))
	b = native.AppendUint16(b, kind)
	return pad(append(b, value...))
}

// pad aligns to four bytes, as every attribute and message is.
func pad(b []byte) []byte {
	for len(b)%unix.NLA_ALIGNTO != 0 {
		b = append(b, 0)
	}
	return b
}

func nested(kind uint16, attrs ...[]byte) []byte {
	return attr(kind|unix.NLA_F_NESTED, join(attrs...))
}

func text(kind uint16, s string) []byte { return attr(kind, append([]byte(s), 0)) }

func number(kind uint16, v uint32) []byte { return attr(kind, binary.BigEndian.AppendUint32(nil, v)) }

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func (r request) encode(seq uint32) []byte {
	b := native.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(r.body)))
	b = native.AppendUint16(b, r.kind)
	b = native.AppendUint16(b, unix.NLM_F_REQUEST|r.flags)
	b = native.AppendUint32(b, seq)
	b = native.AppendUint32(b, 0)
	return pad(append(b, r.body...))
}

// maxReply is more than the kernel puts into one message.
const maxReply = 64 << 10

// ask sends requests in one piece and gives every answer to read; the sequence
// number of a request is its index. Netlink answers before the system call
// returns, so an answer that is not there has not been given.
func ask(socket *os.File, requests []request, read func(kind uint16, seq uint32, body []byte) (done bool, err error)) error {
	conn, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var b []byte
	for i, r := range requests {
		b = append(b, r.encode(uint32(i))...)
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		if _, failed = unix.Write(int(fd), b); failed == nil {
			failed = answers(int(fd), read)
		}
	})
	if err == nil {
		err = failed
	}
	return err
}

func answers(fd int, read func(kind uint16, seq uint32, body []byte) (bool, error)) error {
	b := make([]byte, maxReply)
	for {
		n, _, err := unix.Recvfrom(fd, b, unix.MSG_DONTWAIT)
		if err != nil {
			return fmt.Errorf("read the kernel's answer: %w", err)
		}
		for rest := b[:n]; len(rest) >= unix.SizeofNlMsghdr; {
			size := int(native.Uint32(rest))
			if size < unix.SizeofNlMsghdr || size > len(rest) {
				return fmt.Errorf("the kernel's answer has a message of %d bytes in %d", size, len(rest))
			}
			done, err := read(native.Uint16(rest[4:]), native.Uint32(rest[8:]), rest[unix.SizeofNlMsghdr:size])
			if done || err != nil {
				return err
			}
			rest = rest[min((size+3)&^3, len(rest)):]
		}
	}
}

// carryOut has the kernel do what the requests say. Each that asks for an
// acknowledgement gets one, or an error, which names its step; of several the
// first.
func carryOut(socket *os.File, requests []request) error {
	waiting := 0
	for _, r := range requests {
		if r.flags&unix.NLM_F_ACK != 0 {
			waiting++
		}
	}
	var first error
	err := ask(socket, requests, func(kind uint16, seq uint32, body []byte) (bool, error) {
		if kind != unix.NLMSG_ERROR || len(body) < 4 || int(seq) >= len(requests) {
			return false, fmt.Errorf("the kernel answers with a message of type %d", kind)
		}
		if errno := syscall.Errno(-int32(native.Uint32(body))); errno != 0 && first == nil {
			first = &StepError{requests[seq].step, errno}
		}
		// A whole batch that is refused is answered once, at its first message.
		waiting--
		return waiting == 0 || first != nil && requests[seq].flags&unix.NLM_F_ACK == 0, nil
	})
	if first != nil {
		return first
	}
	return err
}

// attrs calls visit for each attribute in b.
func attrs(b []byte, visit func(kind uint16, value []byte)) {
	for len(b) >= unix.SizeofNlAttr {
		size := int(native.Uint16(b))
		if size < unix.SizeofNlAttr || size > len(b) {
			return
		}
		visit(native.Uint16(b[2:])&^unix.NLA_F_NESTED, b[unix.SizeofNlAttr:size])
		b = b[min((size+3)&^3, len(b)):]
	}
}
