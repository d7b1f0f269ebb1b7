// Merges sorted channels into one sorted stream, and a select with a default.
package main

import "fmt"

func source(start, step, n int) <-chan int {
	ch := make(chan int)
	go func() {
		defer close(ch)
		for i := 0; i < n; i++ {
			ch <- start + i*step
		}
	}()
	return ch
}

func merge(a, b <-chan int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		x, okA := <-a
		y, okB := <-b
		for okA || okB {
			if okA && (!okB || x <= y) {
				out <- x
				x, okA = <-a
			} else {
				out <- y
				y, okB = <-b
			}
		}
	}()
	return out
}

func mergeAll(chans ...<-chan int) <-chan int {
	switch len(chans) {
	case 0:
		empty := make(chan int)
		close(empty)
		return empty
	case 1:
		return chans[0]
	}
	half := len(chans) / 2
	return merge(mergeAll(chans[:half]...), mergeAll(chans[half:]...))
}

func main() {
	last, count := -1, 0
	for v := range mergeAll(source(0, 7, 30), source(3, 11, 20), source(1, 2, 100), source(50, 1, 10), source(5, 5, 0)) {
		if v < last {
			panic("out of order")
		}
		if last = v; count < 24 {
			fmt.Print(v, " ")
		}
		count++
	}
	fmt.Println("...", last, "count", count)

	queue := make(chan string, 2)
	for _, job := range []string{"first", "second", "third"} {
		select {
		case queue <- job:
			fmt.Println("queued", job)
		default:
			fmt.Println("full, dropped", job)
		}
	}
	close(queue)
	for job := range queue {
		fmt.Println("done", job)
	}
	v, ok := <-queue
	fmt.Printf("%q %v\n", v, ok)
}
