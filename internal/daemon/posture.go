package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/posture"
)

// inspect looks at a sandbox from inside before anybody's program is: a server whose
// isolation is not what it says serves nobody. What cannot be made now, because
// nothing works here or an image is still to be pulled, is for the runs to say.
//
// The containers of other machines are not looked at: they answer for themselves, and
// may cost money.
func (d *Daemon) inspect(ctx context.Context) error {
	if fault.Off("posture", "inspect") {
		return nil
	}
	switch d.runtime.Name() {
	case "local", "oci", "docker":
	default:
		return nil
	}
	p, err := posture.Take(ctx, d.runtime, d.cfg.Isolation)
	if errors.Is(err, posture.ErrNone) {
		d.log.Warn("the sandbox was not looked at from inside", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("nothing is served where nobody knows what holds: %w", err)
	}
	faults := p.Faults()
	if len(faults) == 0 {
		return nil
	}
	const told = 5
	text := strings.Join(faults[:min(told, len(faults))], "; ")
	if more := len(faults) - told; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Errorf("the isolation of this host is not what it should be, so nothing is served: %s. What to do: %s", text, p.Mend())
}
