package executor

import "github.com/sandbox-run/sandbox-run/pkg/sandbox"

// checkTrace refuses to name denied system calls where nobody hears of them.
func (r *run) checkTrace() error {
	if !r.req.TraceDenied {
		return nil
	}
	tracer, can := r.e.runtime.(sandbox.DenialTracer)
	if !can {
		return &InputError{Kind: InputUnsupported, Detail: "denied system calls cannot be named by the runtime " + r.e.runtime.Name() + ": only local can; use --runtime local"}
	}
	if err := tracer.CanTraceDenied(r.req.Isolation); err != nil {
		return &InputError{Kind: InputUnsupported, Detail: "denied system calls cannot be named here: " + err.Error()}
	}
	return nil
}
