package tunnel

import (
	"encoding/binary"
	"fmt"
)

// kind is what a frame is.
type kind byte

const (
	kindOpen   kind = 1 + iota // to the far side: a call begins, with its Request
	kindBegun                  // to the near side: an Answer before the last
	kindDone                   // to the near side: the last Answer; the call is over
	kindData                   // bytes of a channel
	kindCredit                 // how many more bytes of a channel may come
	kindEnd                    // the end of a channel
	kindCancel                 // to the far side: nobody waits for the call
	kindAlive                  // a sign of life
)

// The bounds of the protocol. Both sides know them.
const (
	// Window is how much of a channel may be on its way.
	Window = 256 << 10
	// MaxText bounds a request or an answer.
	MaxText = 1 << 20
	// maxData is the most that one frame carries of a channel.
	maxData = 64 << 10
	// maxCalls is how many calls may be open.
	maxCalls = 32
	// quickCalls are those of them that are for what is answered at once.
	quickCalls = 8

	channels   = 3
	headerSize = 6
)

type frame struct {
	kind    kind
	channel byte
	call    uint32
	body    []byte
}

// parseFrame reads a message. The body is a part of it.
func parseFrame(message []byte) (frame, error) {
	if len(message) < headerSize {
		return frame{}, fmt.Errorf("a frame of %d bytes", len(message))
	}
	f := frame{
		kind: kind(message[0]), channel: message[1],
		call: binary.BigEndian.Uint32(message[2:headerSize]), body: message[headerSize:],
	}
	least, most := 0, 0
	switch f.kind {
	case kindOpen, kindBegun, kindDone:
		least, most = 2, MaxText
	case kindData:
		least, most = 1, maxData
	case kindCredit:
		least, most = 4, 4
	case kindEnd, kindCancel, kindAlive:
	default:
		return frame{}, fmt.Errorf("a frame of the unknown kind %d", f.kind)
	}
	switch n := len(f.body); {
	case n < least || n > most:
		return frame{}, fmt.Errorf("a frame of the kind %d with %d bytes", f.kind, n)
	case f.channel >= channels || f.channel != 0 && f.kind != kindData && f.kind != kindCredit && f.kind != kindEnd:
		return frame{}, fmt.Errorf("a frame of the kind %d for channel %d", f.kind, f.channel)
	case (f.call == 0) != (f.kind == kindAlive):
		return frame{}, fmt.Errorf("a frame of the kind %d for call %d", f.kind, f.call)
	}
	return f, nil
}

// bytes are the message that a frame is.
func (f frame) bytes() []byte {
	b := make([]byte, 0, headerSize+len(f.body))
	b = append(b, byte(f.kind), f.channel)
	b = binary.BigEndian.AppendUint32(b, f.call)
	return append(b, f.body...)
}

func creditFrame(call uint32, channel byte, n int) frame {
	return frame{kind: kindCredit, channel: channel, call: call, body: binary.BigEndian.AppendUint32(nil, uint32(n))}
}
