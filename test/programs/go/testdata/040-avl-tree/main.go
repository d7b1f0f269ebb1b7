// A self-balancing map with ordered iteration and an outline of its shape.
package main

import (
	"cmp"
	"fmt"
	"strings"
)

type node[K cmp.Ordered, V any] struct {
	key         K
	value       V
	height      int
	left, right *node[K, V]
}

func height[K cmp.Ordered, V any](n *node[K, V]) int {
	if n == nil {
		return 0
	}
	return n.height
}

func (n *node[K, V]) fix() { n.height = 1 + max(height(n.left), height(n.right)) }

func (n *node[K, V]) rotateRight() *node[K, V] {
	l := n.left
	n.left, l.right = l.right, n
	n.fix()
	l.fix()
	return l
}

func (n *node[K, V]) rotateLeft() *node[K, V] {
	r := n.right
	n.right, r.left = r.left, n
	n.fix()
	r.fix()
	return r
}

func insert[K cmp.Ordered, V any](n *node[K, V], k K, v V) *node[K, V] {
	if n == nil {
		return &node[K, V]{key: k, value: v, height: 1}
	}
	switch c := cmp.Compare(k, n.key); {
	case c < 0:
		n.left = insert(n.left, k, v)
	case c > 0:
		n.right = insert(n.right, k, v)
	default:
		n.value = v
	}
	n.fix()
	switch b := height(n.left) - height(n.right); {
	case b > 1:
		if height(n.left.left) < height(n.left.right) {
			n.left = n.left.rotateLeft()
		}
		return n.rotateRight()
	case b < -1:
		if height(n.right.right) < height(n.right.left) {
			n.right = n.right.rotateRight()
		}
		return n.rotateLeft()
	}
	return n
}

func (n *node[K, V]) outline(depth int) {
	if n != nil {
		n.right.outline(depth + 1)
		fmt.Printf("%s%v=%v\n", strings.Repeat("    ", depth), n.key, n.value)
		n.left.outline(depth + 1)
	}
}

func main() {
	var words *node[string, int]
	for i, w := range strings.Fields("ant bee cat dog eel fox gnu hen ibis jay") {
		words = insert(words, w, i)
	}
	words.outline(0)
	var big *node[int, struct{}]
	for i := 0; i < 100_000; i++ {
		big = insert(big, i, struct{}{})
	}
	fmt.Println("height of 100000 sorted insertions:", big.height, "root:", big.key)
}
