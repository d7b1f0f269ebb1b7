package daemon

import (
	"os"

	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/internal/server"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// containers are what other servers may have here, within the limits of every run.
func (d *Daemon) containers(conf executor.Config) (_ *server.Containers, err error) {
	if d.kept, err = kept.Open(kept.Dir(d.cfg.DataDir), kept.DefaultLimits()); err != nil {
		return nil, err
	}
	node, err := os.Hostname()
	if err != nil {
		node = "this host"
	}
	return &server.Containers{Config: conf, Kept: d.kept, Node: node}, nil
}
