package hostile

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// diary is a file of what was seen, so that a run of hours that ends early, or is to take several
// evenings, goes on where it was. Nil is one that is not kept.
type diary struct {
	file *os.File
	held map[string]bool // by what [sight.String] says
}

var (
	journal *diary
	started = time.Now()
)

// openDiary opens a diary about a server's binary, and returns what it says of it. That of another
// binary begins anew, and what was not as it should be is tried again.
func openDiary(name, binary string) (*diary, []sight, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, nil, err
	}
	about := fmt.Sprintf("%x", sha256.Sum256(program))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, err
	}
	d := &diary{file: file, held: map[string]bool{}}
	var before []sight
	lines := json.NewDecoder(bufio.NewReader(file))
	var of string
	if err := lines.Decode(&of); err == nil && of == about {
		for {
			var s sight
			if err := lines.Decode(&s); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // it was ended meanwhile
				break
			} else if err != nil {
				return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
			}
			if !s.Failed {
				before = append(before, s)
			}
		}
	}
	err = errors.Join(file.Truncate(0), json.NewEncoder(file).Encode(about))
	for _, s := range before {
		d.held[s.String()] = true
		err = errors.Join(err, d.add(s))
	}
	return d, before, err
}

func (d *diary) add(s sight) error {
	if d == nil {
		return nil
	}
	return json.NewEncoder(d.file).Encode(s)
}

// settled tells whether a variant is not to begin: it was as it should be before, or time is over.
func (d *diary) settled(v variant) bool {
	return d != nil && d.held[v.String()] || *period > 0 && time.Since(started) > *period
}
