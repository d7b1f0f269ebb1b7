package wire

import (
	"errors"
	"net/http"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// The types of problems. They tell apart what shares a status.
const (
	TypeMalformed   = "urn:sandbox-run:problem:malformed"
	TypeInvalid     = "urn:sandbox-run:problem:invalid"
	TypeLanguage    = "urn:sandbox-run:problem:language"
	TypeUnsupported = "urn:sandbox-run:problem:unsupported"
	TypeTooLarge    = "urn:sandbox-run:problem:too-large"
	TypeMedia       = "urn:sandbox-run:problem:media-type"
	TypeKey         = "urn:sandbox-run:problem:key"
	TypeForbidden   = "urn:sandbox-run:problem:forbidden"
	TypeRate        = "urn:sandbox-run:problem:rate"
	TypeCapacity    = "urn:sandbox-run:problem:capacity"
	TypeQuota       = "urn:sandbox-run:problem:quota"
	TypeDraining    = "urn:sandbox-run:problem:draining"
	TypeSandbox     = "urn:sandbox-run:problem:sandbox-error"
)

// Invalid is a request that can be read and not be run.
func Invalid(errs ...api.ProblemError) *api.Problem {
	p := &api.Problem{Type: TypeInvalid, Status: http.StatusUnprocessableEntity, Errors: errs}
	var details []string
	for _, e := range errs {
		if e.Pointer == "" {
			details = append(details, e.Detail)
			continue
		}
		details = append(details, e.Pointer+": "+e.Detail)
	}
	p.Detail = strings.Join(details, "; ")
	return p
}

// maxTold bounds what an answer says of what its caller has sent, in bytes: a detail, a pointer, and
// roughly all of them.
const maxTold = 8 << 10

// Short cuts what is longer: an answer waits for its reader, and nobody has to pay for it.
func Short(p *api.Problem) {
	var errs []api.ProblemError
	for sum, i := 0, 0; i < len(p.Errors) && sum < maxTold; i++ {
		e := api.ProblemError{Pointer: short(p.Errors[i].Pointer), Detail: short(p.Errors[i].Detail)}
		errs, sum = append(errs, e), sum+len(e.Pointer)+len(e.Detail)
	}
	p.Detail, p.Errors = short(p.Detail), errs
}

func short(text string) string {
	if len(text) <= maxTold {
		return text
	}
	return strings.ToValidUTF8(text[:maxTold], "") + "…"
}

// kinds are the types of the executor's refusals.
var kinds = map[executor.InputKind]string{
	executor.InputInvalid:         TypeInvalid,
	executor.InputUnknownLanguage: TypeLanguage,
	executor.InputNoToolchain:     TypeLanguage,
	executor.InputUnsupported:     TypeUnsupported,
}

// Refused turns the executor's [*executor.InputError] into a problem. Other
// errors stay as they are.
func Refused(err error) error {
	input, ok := errors.AsType[*executor.InputError](err)
	if !ok {
		return err
	}
	p := Invalid(api.ProblemError{Pointer: input.Field, Detail: input.Detail})
	p.Type, p.Detail = kinds[input.Kind], strings.ReplaceAll(input.Detail, ": sandbox-run languages", ": GET /v1/languages")
	p.Errors[0].Detail = p.Detail
	return p
}
