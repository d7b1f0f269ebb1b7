package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
)

// A server rests once nobody has asked for anything for a while, and nothing runs that was asked for before.
func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Options: Options{Ledger: capacity.New(capacity.Limits{Runs: 100, MemoryBytes: 1 << 40})}, runs: t.Context()}
		run := func(long time.Duration) {
			grant, err := s.place(t.Context(), capacity.Demand{MemoryBytes: 1})
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(long)
			grant.Release()
		}
		rested := make(chan bool, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { rested <- s.rests(ctx) }()
		for range 20 { // each is short, and mostly nothing runs
			run(time.Millisecond)
			time.Sleep(time.Second)
		}
		run(time.Minute)
		synctest.Wait()
		select {
		case <-rested:
			t.Fatal("it rests while it is asked for something")
		default:
		}
		time.Sleep(2 * resting)
		synctest.Wait()
		select {
		case is := <-rested:
			if !is {
				t.Error("it does not rest")
			}
		default:
			t.Error("it never rests")
		}
		cancel()
		if s.rests(ctx) {
			t.Error("it rests when it ends")
		}
	})
}
