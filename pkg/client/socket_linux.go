package client

import (
	"fmt"
	"net"
	"syscall"
)

// peerUID is the user who listens on the other side.
func peerUID(conn *net.UnixConn) (uint32, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, fmt.Errorf("who serves the socket cannot be told: %w", err)
	}
	return peer.Uid, nil
}
