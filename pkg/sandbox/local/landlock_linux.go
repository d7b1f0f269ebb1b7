package local

import "github.com/sandbox-run/sandbox-run/pkg/api"

// minLandlock is the oldest version of Landlock that restricted is built on.
const minLandlock = 1

func (h *host) landlockState() string {
	if h.landlockABI == 0 {
		return api.Absent
	}
	return api.Enforced
}

func (ch *child) landlock() {}
