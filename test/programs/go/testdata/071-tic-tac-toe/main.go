// Perfect play by negamax with memory; counts positions and plays a game.
package main

import (
	"fmt"
	"strings"
)

type board [9]byte

var lines = [8][3]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}

func (b board) won(p byte) bool {
	for _, l := range lines {
		if b[l[0]] == p && b[l[1]] == p && b[l[2]] == p {
			return true
		}
	}
	return false
}

func other(p byte) byte { return 'X' + 'O' - p }

type player struct{ seen map[board]int }

// best returns the value for the side to move: 1 win, 0 draw, -1 loss.
func (pl *player) best(b board, p byte) (value, move int) {
	if b.won(other(p)) {
		return -1, -1
	}
	value, move = -2, -1
	for i, c := range b {
		if c != ' ' {
			continue
		}
		next := b
		next[i] = p
		v, ok := pl.seen[next]
		if !ok {
			v, _ = pl.best(next, other(p))
			pl.seen[next] = v
		}
		if -v > value {
			value, move = -v, i
		}
	}
	if move < 0 {
		return 0, -1
	}
	return value, move
}

func main() {
	var b board
	copy(b[:], strings.Repeat(" ", 9))
	pl := &player{seen: map[board]int{}}
	for p := byte('X'); ; p = other(p) {
		value, move := pl.best(b, p)
		if move < 0 {
			break
		}
		b[move] = p
		fmt.Printf("%c plays %d, expects %+d\n %c│%c│%c\n ─┼─┼─\n %c│%c│%c\n ─┼─┼─\n %c│%c│%c\n", p, move, value,
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8])
	}
	fmt.Println("X won:", b.won('X'), "O won:", b.won('O'), "positions:", len(pl.seen))
	copy(b[:], "XX OO    ")
	value, move := pl.best(b, 'X')
	fmt.Println("puzzle:", value, move)
}
