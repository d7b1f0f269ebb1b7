// A cache that forgets what was not used for longest.
package main

import (
	"container/list"
	"fmt"
)

type entry[K comparable, V any] struct {
	key   K
	value V
}

type cache[K comparable, V any] struct {
	capacity          int
	order             *list.List
	byKey             map[K]*list.Element
	hits, misses, out int
}

func newCache[K comparable, V any](capacity int) *cache[K, V] {
	return &cache[K, V]{capacity: capacity, order: list.New(), byKey: map[K]*list.Element{}}
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	e, ok := c.byKey[k]
	if !ok {
		c.misses++
		return v, false
	}
	c.hits++
	c.order.MoveToFront(e)
	return e.Value.(entry[K, V]).value, true
}

func (c *cache[K, V]) put(k K, v V) {
	if e, ok := c.byKey[k]; ok {
		e.Value = entry[K, V]{k, v}
		c.order.MoveToFront(e)
		return
	}
	if c.order.Len() == c.capacity {
		oldest := c.order.Remove(c.order.Back()).(entry[K, V])
		delete(c.byKey, oldest.key)
		c.out++
	}
	c.byKey[k] = c.order.PushFront(entry[K, V]{k, v})
}

func main() {
	c := newCache[string, int](3)
	for i, k := range []string{"a", "b", "c", "a", "d", "b", "a", "e", "c"} {
		if v, ok := c.get(k); ok {
			fmt.Printf("hit  %s=%d\n", k, v)
		} else {
			fmt.Printf("miss %s\n", k)
			c.put(k, i*10)
		}
	}
	for e := c.order.Front(); e != nil; e = e.Next() {
		fmt.Print(e.Value.(entry[string, int]).key, " ")
	}
	fmt.Printf("\nhits %d, misses %d, evictions %d\n", c.hits, c.misses, c.out)
}
