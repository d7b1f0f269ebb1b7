// Package store keeps counts by name in a JSON file.
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
)

var ErrShort = errors.New("not enough in stock")

type Store struct {
	file  string
	count map[string]int
}

// Open reads the file; an absent one is an empty store.
func Open(file string) (*Store, error) {
	s := &Store{file: file, count: map[string]int{}}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(b, &s.count)
}

func (s *Store) Add(name string, n int) int {
	s.count[name] += n
	return s.count[name]
}

func (s *Store) Take(name string, n int) (int, error) {
	if have := s.count[name]; have < n {
		return have, fmt.Errorf("%s: %w (%d of %d)", name, ErrShort, have, n)
	}
	return s.Add(name, -n), nil
}

func (s *Store) Names() []string {
	var names []string
	for n := range s.count {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func (s *Store) Total() (sum int) {
	for _, n := range s.count {
		sum += n
	}
	return sum
}

// Save replaces the file in one step.
func (s *Store) Save() error {
	b, err := json.Marshal(s.count)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.file+".new", b, 0o644); err != nil {
		return err
	}
	return os.Rename(s.file+".new", s.file)
}
