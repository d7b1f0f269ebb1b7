package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Stream runs a request and hands its events to each as they come, in order, the
// result last; that result it returns. While each does not return, nothing is
// read and the program is held up; a server ends a run whose caller has read
// nothing for half a minute. An error of each ends the run too, and is returned.
func (c *Client) Stream(ctx context.Context, req api.Request, each func(api.Event) error) (*api.Result, error) {
	resp, err := c.post(ctx, req, mediaNDJSON)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() // before its end: the server takes us for gone
	if resp.StatusCode != http.StatusOK || media(resp) != mediaNDJSON {
		return c.refused(ctx, resp)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, c.most)
	for lines.Scan() {
		var e api.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, c.cutOff(ctx, lines, err)
		}
		if err := each(e); err != nil {
			return nil, err
		}
		if e.Result != nil {
			return c.whole(ctx, e.Result)
		}
	}
	return nil, c.cutOff(ctx, lines, io.ErrUnexpectedEOF)
}

// cutOff is the error of a stream that ended without a result. The last line of
// one that broke is seldom whole, so that the connection's error says more.
func (c *Client) cutOff(ctx context.Context, lines *bufio.Scanner, err error) error {
	lines.Scan() // finds the error, if there is one
	switch cause := lines.Err(); {
	case errors.Is(cause, bufio.ErrTooLong):
		err = c.tooLarge()
	case cause != nil:
		err = cause
	}
	return c.broken(ctx, true, err)
}
