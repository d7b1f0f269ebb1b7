// Package tracing sends traces to an OpenTelemetry collector, when asked to by
// the variables that OpenTelemetry itself defines.
package tracing

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/semconv/v1.26.0"
)

// asked are the variables that name a collector. The exporter reads these and its
// others (headers, certificates, timeouts) itself.
var asked = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// Start begins to send traces over HTTP when the environment names a collector,
// and does nothing otherwise. stop sends what is on its way.
func Start(ctx context.Context, service, version string, getenv func(string) string) (stop func(context.Context) error, err error) {
	wanted := false
	for _, name := range asked {
		wanted = wanted || getenv(name) != ""
	}
	if !wanted {
		return func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.Merge(resource.Default(), resource.NewSchemaless(semconv.ServiceName(service), semconv.ServiceVersion(version)))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}
