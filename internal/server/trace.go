package server

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// tracer makes spans, which go nowhere unless traces were asked for.
func tracer() trace.Tracer {
	return otel.Tracer("github.com/sandbox-run/sandbox-run/internal/server")
}

// traced continues the caller's trace, or begins one.
func traced(r *http.Request) (context.Context, trace.Span) {
	ctx := otel.GetTextMapPropagator().Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return tracer().Start(ctx, "execute", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("request.id", requestID(r))))
}

// tell adds to a request's span how it was refused, and nothing of the words, in which callers find
// again what they have sent.
func tell(span trace.Span, err error) {
	p, _ := problem(err)
	span.SetAttributes(attribute.String("problem.type", p.Type), attribute.Int("http.response.status_code", p.Status))
	if p.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// describe adds to a run's span what came of it; never what was run.
func describe(span trace.Span, result *api.Result) {
	if result == nil || !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("sandbox.run", result.ID), attribute.String("sandbox.status", string(result.Status)),
		attribute.String("sandbox.language", result.Language), attribute.String("sandbox.version", result.Version),
		attribute.String("sandbox.isolation", result.Meta.IsolationLevel), attribute.Int("sandbox.exit_code", result.ExitCode),
	)
	for _, phase := range result.Phases {
		attributes := []attribute.KeyValue{attribute.String("status", string(phase.Status))}
		if s := phase.Metrics.WallTimeS; s != nil {
			attributes = append(attributes, attribute.Float64("seconds", *s))
		}
		span.AddEvent(phase.Name, trace.WithAttributes(attributes...))
	}
	if result.Status == api.StatusSandboxError {
		span.SetStatus(codes.Error, "sandbox_error")
	}
}
