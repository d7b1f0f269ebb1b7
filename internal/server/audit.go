package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/store"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// begin writes the audit line of a run that is about to begin: who runs what,
// by its hash, within which limits. It is there when written returns nil; ended completes
// it, with what was spent on a run that was refused after all. A line never holds what the
// program is, or was given.
func (s *Server) begin(ctx context.Context, r *http.Request, p auth.Principal, source string, admitted *executor.Admitted) (written func() error, ended func(result *api.Result, refused bool), err error) {
	if s.Store == nil {
		return func() error { return nil }, func(*api.Result, bool) {}, nil
	}
	limits, err := json.Marshal(admitted.Limits())
	if err != nil {
		return nil, nil, err
	}
	id := admitted.ID()
	language, version := admitted.Language()
	handed, err := s.Store.HandRun(ctx, store.Run{
		ID: id, Started: time.Now(), Tenant: p.Tenant, KeyID: p.KeyID, RequestID: requestID(r),
		SourceSHA256: source, Language: language, Version: version, Limits: limits,
	})
	unwritten := func(err error) error {
		if err != nil {
			err = fmt.Errorf("write the audit line, without which nothing is run: %w", err)
		}
		return err
	}
	if err != nil {
		return nil, nil, unwritten(err)
	}
	written = func() error { return unwritten(handed()) }
	return written, func(result *api.Result, refused bool) {
		if err := s.Store.EndRun(context.WithoutCancel(ctx), id, ending(result, refused)); err != nil {
			s.Log.Error("an audit line could not be completed", "run", id, "error", err.Error())
		}
	}, nil
}

// refusedStatus is the status of the audit line of a run that did not begin.
const refusedStatus = "refused"

func ending(result *api.Result, refused bool) store.RunEnd {
	cpu := used(result)
	if result == nil || refused {
		return store.RunEnd{Finished: time.Now(), Status: refusedStatus, ExitCode: -1, CPUSeconds: &cpu}
	}
	m := result.Metrics
	return store.RunEnd{
		Finished: time.Now(), Status: string(result.Status), ExitCode: result.ExitCode,
		CPUSeconds: &cpu, WallSeconds: m.WallTimeS, MemoryPeakBytes: m.MemoryPeakBytes,
	}
}

// sourceHash is the SHA-256 of all sources: each name and content with its length
// before it, in the order of the names; the code's name is empty.
func sourceHash(req executor.Request) string {
	h := sha256.New()
	add := func(name string, content []byte) {
		for _, part := range [][]byte{[]byte(name), content} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			h.Write(part)
		}
	}
	add("", req.Code)
	for _, name := range slices.Sorted(maps.Keys(req.Files)) {
		add(name, req.Files[name].Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}
