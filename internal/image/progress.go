package image

import (
	"io"
	"sync"
)

// Step is what is being done to an image.
type Step string

// The steps of an image, one after the other.
const (
	Download Step = "download"
	Unpack   Step = "unpack"
)

// Progress is how far a step is.
type Progress struct {
	Image string // as the caller named it
	Step  Step
	// Done and Total are bytes of the layers as they are sent. Total is 0 where
	// nobody knows: a stream.
	Done, Total int64
}

// progressBytes is how often somebody hears of progress.
const progressBytes = 1 << 20

// meter tells a caller of progress. One call is made at a time.
type meter struct {
	tell func(Progress)

	mu   sync.Mutex
	now  Progress
	told int64
}

func newMeter(tell func(Progress), image string, total int64) *meter {
	return &meter{tell: tell, now: Progress{Image: image, Total: total}}
}

func (m *meter) start(step Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Step, m.now.Done, m.told = step, 0, 0
	m.say()
}

// add counts bytes; a negative number takes back those of an attempt that failed.
func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Done += n
	if m.now.Done-m.told >= progressBytes || m.now.Done == m.now.Total {
		m.told = m.now.Done
		m.say()
	}
}

func (m *meter) say() {
	if m.tell != nil {
		m.tell(m.now)
	}
}

// reader counts what is read through it.
func (m *meter) reader(r io.Reader) io.Reader { return &meteredReader{r, m} }

type meteredReader struct {
	r io.Reader
	m *meter
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.m.add(int64(n))
	}
	return n, err
}
