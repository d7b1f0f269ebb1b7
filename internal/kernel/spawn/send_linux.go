package spawn

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// SendFiles sends descriptors to the host: those in cells, in order.
func (p *Program) SendFiles(fds ...Arg) Call {
	control := p.Bytes(make([]byte, unix.CmsgSpace(4*len(fds))))
	cmsg := p.blob[control.value:]
	binary.NativeEndian.PutUint64(cmsg, uint64(unix.CmsgLen(4*len(fds))))
	binary.NativeEndian.PutUint32(cmsg[8:], unix.SOL_SOCKET)
	binary.NativeEndian.PutUint32(cmsg[12:], unix.SCM_RIGHTS)
	for i, fd := range fds {
		p.SetInt(control, unix.CmsgLen(0)+4*i, fd)
	}
	record := make([]byte, recordSize)
	binary.NativeEndian.PutUint32(record, recordFiles)
	data := p.Bytes(record)
	iov := p.Bytes(binary.NativeEndian.AppendUint64(make([]byte, 8), recordSize))
	p.SetPointer(iov, 0, data)
	header := make([]byte, 56) // struct msghdr
	binary.NativeEndian.PutUint64(header[24:], 1)
	binary.NativeEndian.PutUint64(header[40:], uint64(unix.CmsgSpace(4*len(fds))))
	msg := p.Bytes(header)
	p.SetPointer(msg, 16, iov)
	p.SetPointer(msg, 32, control)
	p.sends += len(fds)
	return p.Call("send descriptors", unix.SYS_SENDMSG, FD(controlFD), msg, Value(unix.MSG_NOSIGNAL))
}
