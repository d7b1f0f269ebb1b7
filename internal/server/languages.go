package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

func (s *Server) languages(w http.ResponseWriter, r *http.Request) {
	s.answer(w, http.StatusOK, "application/json", s.catalogue(r.Context()))
}

const (
	// catalogueAge is how old the list may be, and cataloguePatience how long it may take: to look
	// for all languages asks many programs for their version, in images as well.
	catalogueAge      = time.Minute
	cataloguePatience = 2 * time.Minute
)

// catalogue is the list of languages, or the last one where a new one takes longer than the caller
// waits.
func (s *Server) catalogue(ctx context.Context) api.Languages {
	known, _ := s.listed.get(ctx, catalogueAge, func(ctx context.Context) (api.Languages, error) {
		ctx, cancel := context.WithTimeout(ctx, cataloguePatience)
		defer cancel()
		return catalogueOf(s.Executor.Toolchains(ctx)), nil
	})
	return known
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
