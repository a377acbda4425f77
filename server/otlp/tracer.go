package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sqlots/sqlots/metrics"
)

const (
	maxQueue      = 8192 // spans that wait; a statement has four
	maxBatch      = 1024 // spans that are sent at once
	batchAge      = 2 * time.Second
	exportTimeout = 10 * time.Second
	flushTimeout  = 5 * time.Second // at the end
	quietTime     = time.Minute     // between two lines of the log
)

// Config configures a Tracer.
type Config struct {
	// Endpoint is the address of a collector, such as http://localhost:4318.
	Endpoint string
	// Ratio is the part of the traces that begin here which are sent, from 0 to 1. Where a
	// client began one, that decides.
	Ratio float64
	// Version is that of the server.
	Version string
	Log     *slog.Logger
}

// Tracer sends statements as spans. It implements metrics.Tracer.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// New makes a tracer. It needs no collector that answers.
func New(ctx context.Context, cfg Config) (*Tracer, error) {
	if !(cfg.Ratio >= 0 && cfg.Ratio <= 1) {
		return nil, fmt.Errorf("the ratio of traces is %v, and has to be from 0 to 1", cfg.Ratio)
	}
	c, err := newClient(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("spans: %w", err)
	}
	// The environment precedes: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "sqlots"), attribute.String("service.version", cfg.Version)), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("what spans say of the server: %w", err)
	}
	x := &Tracer{provider: sdk.NewTracerProvider(
		sdk.WithResource(res),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.Ratio))),
		sdk.WithBatcher(&quiet{SpanExporter: exporter, log: cfg.Log}, sdk.WithMaxQueueSize(maxQueue), sdk.WithMaxExportBatchSize(maxBatch), sdk.WithBatchTimeout(batchAge), sdk.WithExportTimeout(exportTimeout)),
	)}
	x.tracer = x.provider.Tracer("sqlots", trace.WithInstrumentationVersion(cfg.Version))
	return x, nil
}

// Shutdown sends what waits, for a few seconds at most.
func (x *Tracer) Shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	_ = x.provider.Shutdown(ctx) // what was not sent is lost
}

// Trace implements metrics.Tracer.
func (x *Tracer) Trace(t *metrics.Trace) {
	ctx := context.Background()
	parent := parentIn(t.Text)
	if parent == "" {
		parent = t.Parent
	}
	if parent != "" { // one that is not valid is none
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
	}
	operation, name := "", "statement"
	if t.Command > metrics.Other {
		operation = strings.ToUpper(strings.ReplaceAll(t.Command.String(), "_", " "))
		name = operation
	}
	if t.Schema != "" {
		name += " " + t.Schema
	}
	ctx, span := x.tracer.Start(ctx, name, trace.WithTimestamp(t.Start), trace.WithSpanKind(trace.SpanKindServer))
	if !span.IsRecording() {
		return
	}
	end := t.Start.Add(t.Duration)
	x.step(ctx, "parse", t.Start, t.Parsed)
	begin := t.Start
	if !t.Parsed.IsZero() {
		begin = t.Parsed
	}
	x.step(ctx, "plan", begin, t.Planned)
	if !t.Planned.IsZero() {
		begin = t.Planned
	}
	x.step(ctx, "execute", begin, end)
	span.SetAttributes(
		attribute.String("db.system.name", "sqlots"),
		attribute.Int64("db.response.returned_rows", int64(t.Sent)),
		attribute.Int64("sqlots.rows_affected", int64(t.Affected)),
		attribute.Int64("sqlots.rows_examined", int64(t.Work[metrics.RowsExamined])),
		attribute.Int64("sqlots.connection", int64(t.Connection)),
	)
	if operation != "" {
		span.SetAttributes(attribute.String("db.operation.name", operation))
	}
	if t.Schema != "" {
		span.SetAttributes(attribute.String("db.namespace", t.Schema))
	}
	if d := t.Digest; d != nil && d.Text != "" {
		span.SetAttributes(attribute.String("db.query.text", d.Text), attribute.String("sqlots.digest", d.Hash))
	}
	if t.Errno != 0 {
		number := strconv.Itoa(int(t.Errno))
		span.SetAttributes(attribute.String("db.response.status_code", number), attribute.String("error.type", number))
		span.SetStatus(codes.Error, number+" ("+t.State+")")
	}
	span.End(trace.WithTimestamp(end))
}

// step makes the span of a step of a statement, if it was: end is not zero.
func (x *Tracer) step(ctx context.Context, name string, begin, end time.Time) {
	if end.IsZero() {
		return
	}
	_, span := x.tracer.Start(ctx, name, trace.WithTimestamp(begin))
	span.End(trace.WithTimestamp(end))
}

// parentIn finds the parent in the comment at the end of a text, as sqlcommenter writes it:
// SELECT 1 /*traceparent='00-…-01'*/. "" if there is no such comment.
func parentIn(text string) string {
	text, ok := strings.CutSuffix(strings.TrimRight(text, " \t\r\n;"), "*/")
	if !ok {
		return ""
	}
	i := strings.LastIndex(text, "/*")
	if i < 0 {
		return ""
	}
	for pair := range strings.SplitSeq(text[i+2:], ",") {
		if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && name == "traceparent" {
			return strings.Trim(value, "'")
		}
	}
	return ""
}

// quiet is an exporter whose failures are logged, rarely.
type quiet struct {
	sdk.SpanExporter
	log    *slog.Logger
	mu     sync.Mutex
	last   time.Time
	failed int // spans since the last line
}

// ExportSpans implements sdk.SpanExporter.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed += len(spans)
	if time.Since(q.last) >= quietTime {
		q.log.Warn("spans were not sent", "event", "traces.failed", "spans", q.failed, "error", err)
		q.last, q.failed = time.Now(), 0
	}
	return nil // the library would write a line of its own
}
