// Package world loads rooms from a text file and plays in them.
package world

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type room struct {
	name, text string
	exits      map[string]string
	items      []string
}

type World struct {
	rooms    map[string]*room
	here     *room
	bag      []string
	goalRoom string
	goalItem string
	moves    int
}

func Load(file string) (*World, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	w := &World{rooms: map[string]*room{}}
	for n, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "room":
			f := strings.Split(rest, "|")
			if len(f) != 4 {
				return nil, fmt.Errorf("line %d: want 4 fields, found %d", n+1, len(f))
			}
			r := &room{strings.TrimSpace(f[0]), strings.TrimSpace(f[1]), map[string]string{}, strings.Fields(f[3])}
			for _, e := range strings.Fields(f[2]) {
				dir, to, _ := strings.Cut(e, "=")
				r.exits[dir] = to
			}
			w.rooms[r.name] = r
			if w.here == nil {
				w.here = r
			}
		case "goal":
			w.goalRoom, w.goalItem, _ = strings.Cut(rest, " ")
		default:
			return nil, fmt.Errorf("line %d: unknown %q", n+1, kind)
		}
	}
	return w, nil
}

func (w *World) Look() string {
	var exits []string
	for e := range w.here.exits {
		exits = append(exits, e)
	}
	sort.Strings(exits)
	return fmt.Sprintf("%s: %s Exits: %s. Things: %v.", w.here.name, w.here.text, strings.Join(exits, ", "), w.here.items)
}

func (w *World) Do(command string) string {
	verb, what, _ := strings.Cut(command, " ")
	switch verb {
	case "go":
		to, ok := w.here.exits[what]
		if !ok {
			return "There is no way " + what + "."
		}
		w.here = w.rooms[to]
		w.moves++
		return w.Look()
	case "take":
		for i, it := range w.here.items {
			if it == what {
				w.here.items = append(w.here.items[:i:i], w.here.items[i+1:]...)
				w.bag = append(w.bag, it)
				return "Taken: " + it
			}
		}
		return "No " + what + " here."
	}
	return "I do not know how to " + verb + "."
}

// Over is true in the goal's room with the goal's item.
func (w *World) Over() bool {
	return w.here.name == w.goalRoom && strings.Contains(strings.Join(w.bag, "\n"), w.goalItem)
}

func (w *World) Moves() int    { return w.moves }
func (w *World) Bag() []string { return w.bag }
