package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

// standIn answers as a sandbox-server would for print(6*7).
func standIn() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const result = `{"id":"01","success":true,"status":"ok","stdout":"42\n","language":"python","version":"3.12.1"}`
		if r.Header.Get("Accept") == "application/json" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, result)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, `{"seq":1,"t":0,"type":"start","id":"01","language":"python","version":"3.12.1"}
{"seq":2,"t":0.01,"type":"stdout","data":"42\n"}
{"seq":3,"t":0.02,"type":"result","result":`+result+"}\n")
	}))
}

func Example() {
	server := standIn()
	defer server.Close()

	c, err := client.New(server.URL, client.Options{Key: os.Getenv("SANDBOX_API_KEY")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	result, err := c.Execute(context.Background(), api.Request{
		Language: "python", Code: "print(6*7)", TimeoutSeconds: 5, Limits: &api.RequestLimits{MemoryMB: 256},
	})
	var refused *client.Error
	switch {
	case errors.As(err, &refused):
		fmt.Println(refused.Problem.Status, refused, "try again in", refused.RetryAfter)
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Print(result.Status, " ", result.Stdout)
	}
	// Output: ok 42
}

func ExampleClient_Stream() {
	server := standIn()
	defer server.Close()

	c, err := client.New(server.URL, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	result, err := c.Stream(context.Background(), api.Request{Code: "print(6*7)"}, func(e api.Event) error {
		if e.Type == api.EventStdout {
			fmt.Print(e.Data)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, result.Version)
	// Output:
	// 42
	// ok 3.12.1
}
