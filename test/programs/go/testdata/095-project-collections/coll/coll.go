// Package coll has a stack, a ring and a map that remembers its order.
package coll

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(v T) { s.items = append(s.items, v) }
func (s *Stack[T]) Len() int { return len(s.items) }

func (s *Stack[T]) Pop() (v T, ok bool) {
	if len(s.items) == 0 {
		return v, false
	}
	v = s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return v, true
}

// Ring keeps the last items it was given.
type Ring[T any] struct {
	buf     []T
	head, n int
}

func NewRing[T any](size int) *Ring[T] { return &Ring[T]{buf: make([]T, size)} }

func (r *Ring[T]) Put(v T) (dropped T, full bool) {
	at := (r.head + r.n) % len(r.buf)
	if full = r.n == len(r.buf); full {
		dropped = r.buf[at]
		r.head = (r.head + 1) % len(r.buf)
	} else {
		r.n++
	}
	r.buf[at] = v
	return dropped, full
}

func (r *Ring[T]) Items() (out []T) {
	for i := 0; i < r.n; i++ {
		out = append(out, r.buf[(r.head+i)%len(r.buf)])
	}
	return out
}

type OrderedMap[K comparable, V any] struct {
	keys   []K
	values map[K]V
}

func NewOrderedMap[K comparable, V any]() *OrderedMap[K, V] {
	return &OrderedMap[K, V]{values: map[K]V{}}
}

func (m *OrderedMap[K, V]) Update(k K, f func(V) V) {
	old, ok := m.values[k]
	if !ok {
		m.keys = append(m.keys, k)
	}
	m.values[k] = f(old)
}

func (m *OrderedMap[K, V]) Len() int { return len(m.keys) }

func (m *OrderedMap[K, V]) Each(f func(K, V)) {
	for _, k := range m.keys {
		f(k, m.values[k])
	}
}
