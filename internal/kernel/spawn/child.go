package spawn

import "slices"

// Stage is how far a process had come when a server told of its end.
type Stage int

// A process that is attended ends in one of the stages.
const (
	// StageEnded is that it is dead.
	StageEnded Stage = iota
	// StageHeld is that it has begun to end, and waits for [Program.Release]: it runs none of its code
	// any more, and has its memory and its files still. Its status and its usage are as they will be.
	StageHeld
	// StageLetGo is that it is attended no more: it has had a signal, say.
	StageLetGo
)

// Child is a process that a program of a server has forked, adopted or attended.
type Child struct {
	over  chan struct{} // closed when the rest is set
	exit  Exit
	err   error
	taken bool // somebody has asked for it
}

func newChild() *Child { return &Child{over: make(chan struct{})} }

// Over is closed when it has ended, or when nothing can be heard of it any more.
func (c *Child) Over() <-chan struct{} { return c.over }

// Exit waits for Over and tells how it has ended. Of one whose server has ended before that is
// [ErrGone].
func (c *Child) Exit() (Exit, error) {
	<-c.over
	return c.exit, c.err
}

func (c *Child) ended() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

func (c *Child) end(exit Exit, err error) {
	c.exit, c.err = exit, err
	close(c.over)
}

// Child is a process that a program of this server forked, by its number. Each can be asked for once. Of
// several that have had a number one after the other, who comes first gets the first.
func (s *Server) Child(pid int) *Child {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.children[pid] {
		if !c.taken {
			c.taken = true
			s.drop(pid)
			return c
		}
	}
	c := newChild()
	if s.gone {
		c.end(Exit{}, ErrGone)
	} else {
		s.unknown = append(s.unknown, c)
	}
	return c
}

// drop forgets those of a number that have ended and were asked for. The caller holds mu.
func (s *Server) drop(pid int) {
	left := slices.DeleteFunc(s.children[pid], func(c *Child) bool { return c.taken && c.ended() })
	if s.children[pid] = left; len(left) == 0 {
		delete(s.children, pid)
	}
}

// noteExit notes the end of a child. The caller holds mu.
func (s *Server) noteExit(r record) {
	pid := int(r.a)
	if lives := s.children[pid]; len(lives) > 0 && !lives[len(lives)-1].ended() {
		lives[len(lives)-1].end(exitOf(r), nil)
		s.drop(pid)
	}
}

// orphan ends those of whom nothing can be heard any more. The caller holds mu.
func (s *Server) orphan() {
	for pid, lives := range s.children {
		for _, c := range lives {
			if !c.ended() {
				c.end(Exit{}, ErrGone)
			}
		}
		s.drop(pid)
	}
	for _, c := range s.unknown {
		c.end(Exit{}, ErrGone)
	}
	s.unknown = nil
}
