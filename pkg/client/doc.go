// Package client calls sandbox-server.
//
//	c, err := client.New("https://sandbox.example:8080", client.Options{Key: key})
//	result, err := c.Execute(ctx, api.Request{Language: "python", Code: "print(6*7)"})
//
// Whenever there is a result, it is returned with a nil error, whatever the
// program did: [api.Result.Status] tells. That includes [api.StatusSandboxError],
// a run that failed through the server's fault, with [api.Result.Retryable]. An
// error means that there is no result, and is one of these:
//
//   - [*RequestError]: the request cannot be sent as it is. Nothing was sent.
//   - [*Error]: the server refuses it, with a problem (RFC 9457) and perhaps the
//     time after which another attempt makes sense. Nothing ran.
//   - [*ConnectionError]: the server cannot be reached, or the connection broke.
//     A run that has begun ends with its connection.
//   - ctx's own. To cancel ctx closes the connection, which ends the run.
//
// No error holds the key, and no redirect is followed, so that key and code go
// nowhere but to the server that was named.
package client
