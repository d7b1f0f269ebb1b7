// Huffman codes: build the tree, encode, decode and compare sizes.
package main

import (
	"container/heap"
	"fmt"
	"sort"
	"strings"
)

type node struct {
	weight      int
	symbol      rune
	left, right *node
}

type forest []*node

func (f forest) Len() int { return len(f) }
func (f forest) Less(i, j int) bool {
	return f[i].weight < f[j].weight || f[i].weight == f[j].weight && f[i].symbol < f[j].symbol
}
func (f forest) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *forest) Push(x any)   { *f = append(*f, x.(*node)) }
func (f *forest) Pop() any {
	n := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return n
}

func tree(text string) *node {
	counts := map[rune]int{}
	for _, r := range text {
		counts[r]++
	}
	f := &forest{}
	for r, n := range counts {
		heap.Push(f, &node{weight: n, symbol: r})
	}
	for f.Len() > 1 {
		a, b := heap.Pop(f).(*node), heap.Pop(f).(*node)
		heap.Push(f, &node{a.weight + b.weight, min(a.symbol, b.symbol), a, b})
	}
	return heap.Pop(f).(*node)
}

func (n *node) codes(prefix string, into map[rune]string) {
	if n.left == nil {
		into[n.symbol] = prefix
		return
	}
	n.left.codes(prefix+"0", into)
	n.right.codes(prefix+"1", into)
}

func main() {
	text := "she sells sea shells by the sea shore; 你好你好 🦀"
	root := tree(text)
	codes := map[rune]string{}
	root.codes("", codes)
	var bits strings.Builder
	for _, r := range text {
		bits.WriteString(codes[r])
	}
	symbols := make([]rune, 0, len(codes))
	for r := range codes {
		symbols = append(symbols, r)
	}
	sort.Slice(symbols, func(i, j int) bool { return symbols[i] < symbols[j] })
	for _, r := range symbols {
		fmt.Printf("%q %s\n", r, codes[r])
	}
	var back strings.Builder
	n := root
	for _, b := range bits.String() {
		if b == '0' {
			n = n.left
		} else {
			n = n.right
		}
		if n.left == nil {
			back.WriteRune(n.symbol)
			n = root
		}
	}
	fmt.Printf("%d bits instead of %d, restored %v\n", bits.Len(), 8*len(text), back.String() == text)
}
