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
	p.Type, p.Detail = kinds[input.Kind], strings.ReplaceAll(input.Detail, "sandbox-run languages lists", "GET /v1/languages lists")
	p.Errors[0].Detail = p.Detail
	return p
}
