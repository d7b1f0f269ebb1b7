package server

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

func (s *Server) languages(w http.ResponseWriter, r *http.Request) {
	s.answer(w, http.StatusOK, "application/json", s.catalogue.get(r.Context(), s.Executor))
}

// catalogue remembers the languages for a while: looking for all of them asks
// many programs for their version.
type catalogue struct {
	mu    sync.Mutex
	known api.Languages
	since time.Time
}

// catalogueAge is how old the list may be.
const catalogueAge = time.Minute

func (c *catalogue) get(ctx context.Context, e *executor.Executor) api.Languages {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() || time.Since(c.since) > catalogueAge {
		found, missing := e.Toolchains(context.WithoutCancel(ctx))
		c.known, c.since = catalogueOf(found, missing), time.Now()
	}
	return c.known
}

func catalogueOf(found []language.Toolchain, missing []language.Missing) api.Languages {
	var all api.Languages
	for _, lang := range language.All() {
		info := lang.Info()
		l := api.Language{Name: info.Name, Title: info.Title, Aliases: list(info.Aliases), Extensions: list(info.Extensions), Versions: []string{}}
		for _, tc := range found {
			if tc.Language == info.Name && !slices.Contains(l.Versions, tc.Version) {
				l.Versions = append(l.Versions, tc.Version)
			}
		}
		l.Available = len(l.Versions) > 0
		if i := slices.IndexFunc(missing, func(m language.Missing) bool { return m.Language == info.Name }); i >= 0 && !l.Available {
			if l.Reason = missing[i].Reason; !missing[i].Inside {
				l.Install = info.Install
			}
		}
		all.Languages = append(all.Languages, l)
	}
	return all
}

// list is never null in JSON.
func list(s []string) []string { return append([]string{}, s...) }
