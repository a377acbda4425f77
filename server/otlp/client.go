package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// tracesPath is where collectors take spans, after the address of an endpoint.
const tracesPath = "/v1/traces"

// client posts spans. It implements otlptrace.Client.
//
// The one of the exporter's module is not used: it brings gRPC and its gateway, which make
// the program larger by far than the rest of OpenTelemetry.
type client struct {
	url    string
	header http.Header
	http   http.Client
}

// newClient makes a client for an endpoint such as http://localhost:4318.
func newClient(endpoint string) (*client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no address of a collector, such as http://localhost:4318", endpoint)
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	c := &client{url: u.String(), header: http.Header{}, http: http.Client{Timeout: exportTimeout}}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // headers may have a key, which is for this host
	}
	if c.http.Transport, err = transport(); err != nil {
		return nil, err
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		if err := addHeaders(c.header, os.Getenv(name)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	c.header.Set("Content-Type", "application/x-protobuf")
	c.header.Set("Content-Encoding", "gzip")
	return c, nil
}

// transport is one of its own, so that connections end with the client.
func transport() (http.RoundTripper, error) {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("the transport of HTTP is a %T", http.DefaultTransport)
	}
	return t.Clone(), nil
}

// addHeaders reads headers as the environment has them: name=value,name=value, with escapes
// of URLs.
func addHeaders(h http.Header, list string) error {
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return fmt.Errorf("headers are written as name=value,name=value")
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
		h.Set(name, value)
	}
	return nil
}

// Start implements otlptrace.Client.
func (*client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the form of ExportTraceServiceRequest, which is part of the service.
	text, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encoding spans: %w", err)
	}
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	_, _ = z.Write(text)
	_ = z.Close() // a buffer takes all
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, &body)
	if err != nil {
		return fmt.Errorf("sending spans: %w", err)
	}
	r.Header = c.header.Clone()
	res, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("sending spans: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("sending spans: %s answers %s", c.url, res.Status)
	}
	return nil
}
