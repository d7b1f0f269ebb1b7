// Cancellation reaches every worker; the causes and values are told apart.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

type key string

var errEnough = errors.New("found enough")

func perfect(n int) bool {
	sum := 1
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			sum += d + n/d
		}
	}
	return sum == n
}

// search hands out candidates in order until a worker has met the one past
// 400. A worker finishes what it holds before it looks at the context, so
// every smaller candidate has been judged when all of them are gone.
func search(ctx context.Context, workers int) (found []int, stopped int) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in := make(chan int)
	go func() {
		defer close(in)
		for n := 2; n < 5000; n++ {
			select {
			case in <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range in {
				if !perfect(n) {
					continue
				}
				mu.Lock()
				found = append(found, n)
				mu.Unlock()
				if n > 400 {
					cancel(errEnough)
				}
			}
			mu.Lock()
			stopped++
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println("cause:", context.Cause(ctx), "| error:", ctx.Err())
	return found, stopped
}

func main() {
	ctx := context.WithValue(context.Background(), key("user"), "🦀")
	found, stopped := search(ctx, 4)
	total := 0
	for _, n := range found {
		total += n
	}
	fmt.Println("three perfect numbers, sum", total, "workers stopped:", stopped)
	fmt.Println(ctx.Value(key("user")), ctx.Value("user"))

	deadline, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	<-deadline.Done()
	fmt.Println(deadline.Err(), errors.Is(deadline.Err(), context.DeadlineExceeded))
	child, stop := context.WithCancel(deadline)
	fmt.Println(child.Err(), child.Value(key("user")))
	stop()
	called := make(chan string)
	parent, end := context.WithCancel(context.Background())
	context.AfterFunc(parent, func() { called <- "after func ran" })
	end()
	fmt.Println(<-called)
}
