package relay

import (
	"encoding/binary"
	"io"
	"net"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"
)

// maxPacket is more than a question takes. What is longer gets no answer.
const maxPacket = 1 << 10

// dnsIdle is how long a connection to the name server may be silent.
const dnsIdle = 10 * time.Second

// maxAsking is how many questions wait for the resolver outside at once.
const maxAsking = 32

// ServeUDP answers name queries that arrive at conn until the relay is closed,
// which closes conn. It returns at once.
func (r *Relay) ServeUDP(conn *net.UDPConn) {
	r.start(conn, func() { r.answerPackets(conn) })
}

// answerPackets sends each answer from the address that was asked: a socket on
// every address would else choose one.
func (r *Relay) answerPackets(conn *net.UDPConn) {
	defer r.release(conn)
	p := ipv4.NewPacketConn(conn)
	_ = p.SetControlMessage(ipv4.FlagDst, true) // where there is none, we choose
	asking := make(chan struct{}, maxAsking)
	b := make([]byte, maxPacket)
	for {
		n, control, from, err := p.ReadFrom(b)
		if err != nil {
			if r.pause(err) {
				continue
			}
			return
		}
		if r.askPace.Wait(r.ctx) != nil {
			r.answer(r.ctx, b[:n]) // the last one: nobody waits for it, but what is refused is noted
			return
		}
		select {
		case asking <- struct{}{}:
		default:
			continue // whoever asked asks again
		}
		packet := append([]byte(nil), b[:n]...)
		r.running.Go(func() {
			defer func() { <-asking }()
			if answer := r.answer(r.ctx, packet); answer != nil {
				var source *ipv4.ControlMessage
				if control != nil {
					source = &ipv4.ControlMessage{Src: control.Dst}
				}
				_, _ = p.WriteTo(answer, source, from) // as lost as any packet
			}
		})
	}
}

// answerStream answers name queries on one connection, one after the other.
func (r *Relay) answerStream(conn net.Conn) {
	for {
		_ = conn.SetDeadline(time.Now().Add(dnsIdle))
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		packet := make([]byte, binary.BigEndian.Uint16(size[:]))
		if len(packet) > maxPacket {
			return
		}
		if _, err := io.ReadFull(conn, packet); err != nil || r.askPace.Wait(r.ctx) != nil {
			return
		}
		answer := r.answer(r.ctx, packet)
		if answer == nil {
			return
		}
		// What a lookup took is not the program's silence.
		_ = conn.SetDeadline(time.Now().Add(dnsIdle))
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// answerMessages answers name queries, one after the other, that arrive a message
// each, as datagrams do. What is no query has been meant for somebody else.
func (r *Relay) answerMessages(conn net.Conn) {
	b := make([]byte, maxPacket)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(r.config.IdleTimeout))
		n, err := conn.Read(b)
		if err != nil {
			return
		}
		closed := r.askPace.Wait(r.ctx) // nobody waits for the last one, but what is refused is noted
		answer := r.answer(r.ctx, b[:n])
		_ = conn.SetWriteDeadline(time.Now().Add(dnsIdle))
		if answer == nil || !isQuestion(b[:n]) {
			r.violations.add("datagram refused: only TCP and name queries leave the sandbox")
		} else if _, err := conn.Write(answer); err != nil {
			return
		}
		if closed != nil {
			return
		}
	}
}

// isQuestion tells a name query from what was meant for another server.
func isQuestion(packet []byte) bool {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil || header.Response {
		return false
	}
	_, err = p.Question()
	return err == nil
}
