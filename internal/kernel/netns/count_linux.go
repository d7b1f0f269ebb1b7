package netns

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Of linux/sock_diag.h and linux/inet_diag.h.
const (
	sizeofDiagRequest = 56 // struct inet_diag_req_v2
	sizeofDiagMessage = 72 // struct inet_diag_msg
	diagMemory        = 7  // INET_DIAG_SKMEMINFO, an array of 32-bit numbers
	memoryReceived    = 0  // SK_MEMINFO_RMEM_ALLOC
	memoryAhead       = 4  // SK_MEMINFO_FWD_ALLOC
	memoryQueued      = 5  // SK_MEMINFO_WMEM_QUEUED
	memoryBacklog     = 7  // SK_MEMINFO_BACKLOG
	tcpTimeWait       = 6  // TCP_TIME_WAIT, which holds nothing
)

// CountSocket is what [TCPBytes] asks through.
func CountSocket() Socket {
	return Socket{Name: "the socket that counts", Family: unix.AF_NETLINK, Type: unix.SOCK_RAW, Protocol: unix.NETLINK_SOCK_DIAG}
}

// TCPBytes is the memory that the TCP sockets of the namespace hold: those that
// nobody has a descriptor of as well, since their connection was closed or not yet
// accepted. It takes a millisecond, and another for each thousand sockets. A kernel
// that does not tell of TCP sockets answers ENOENT. The socket is [CountSocket], and
// for one caller at a time.
func TCPBytes(count *os.File) (int64, error) {
	var total int64
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		of, err := tcpBytes(count, family)
		if err != nil {
			return 0, err
		}
		total += of
	}
	return total, nil
}

func tcpBytes(count *os.File, family byte) (total int64, err error) {
	body := make([]byte, sizeofDiagRequest)
	body[0], body[1], body[2] = family, unix.IPPROTO_TCP, 1<<(diagMemory-1)
	native.PutUint32(body[4:], ^uint32(1<<tcpTimeWait))
	list := request{step: "count TCP sockets", kind: unix.SOCK_DIAG_BY_FAMILY, flags: unix.NLM_F_DUMP, body: body}
	err = ask(count, []request{list}, func(kind uint16, _ uint32, body []byte) (bool, error) {
		switch {
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return true, &StepError{list.step, syscall.Errno(-int32(native.Uint32(body)))}
		case kind != unix.SOCK_DIAG_BY_FAMILY || len(body) < sizeofDiagMessage:
			return true, fmt.Errorf("%s: the kernel answers with a message of type %d", list.step, kind)
		}
		attrs(body[sizeofDiagMessage:], func(kind uint16, value []byte) {
			if kind != diagMemory || len(value) < 4*(memoryBacklog+1) {
				return
			}
			for _, i := range []int{memoryReceived, memoryAhead, memoryQueued, memoryBacklog} {
				total += int64(native.Uint32(value[4*i:]))
			}
		})
		return false, nil
	})
	return total, err
}
