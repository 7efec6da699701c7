package api

import (
	"bytes"
	"fmt"
	"net/http"
	"sync/atomic"

	"roomgate/agent/health"
	"roomgate/agent/problem"
)

// healthz says whether the process works; a supervisor restarts it if not.
func healthz(s *Server, c *call) error {
	if err := s.agent.Health.Progress(); err != nil {
		return &problem.Error{Code: problem.Unavailable, Message: err.Error()}
	}
	return c.raw([]byte(`{"status":"ok"}`))
}

// readyz says whether requests are worth sending.
func readyz(s *Server, c *call) error {
	if err := s.agent.Health.Ready(); err != nil {
		c.w.Header().Set("Retry-After", "1")
		return &problem.Error{Code: problem.Unavailable, Message: "not ready: " + err.Error()}
	}
	if d := s.agent.Health.Database.Degraded(); d != nil {
		return c.json(http.StatusOK, readyDegraded{"ready", d})
	}
	return c.raw([]byte(`{"status":"ready"}`))
}

// readyDegraded is the body of readyz while the disk does not take what is to be
// stored: requests are worth sending, but some are refused.
type readyDegraded struct {
	Status   string           `json:"status"`
	Degraded *health.Degraded `json:"degraded"`
}

// gatewayAnswer is the body of gateway.
type gatewayAnswer struct {
	health.Identity
	health.Report
	Outward health.Queues `json:"outward"`
}

// gateway answers with which gateway this is, and how it is.
func gateway(s *Server, c *call) error {
	g := gatewayAnswer{s.agent.Health.Identity(), s.agent.Health.Report(), s.agent.Health.Queues()}
	if c.v2 {
		return c.json(http.StatusOK, newTimedGateway(g))
	}
	return c.json(http.StatusOK, g)
}

// counts are this door's figures.
type counts struct {
	classes   [6]atomic.Uint64 // answers by the first digit of their status
	open      atomic.Int64     // connections
	refused   atomic.Uint64
	displaced atomic.Uint64
}

func (n *counts) answered(status int) {
	if class := status / 100; class > 0 && class < len(n.classes) {
		n.classes[class].Add(1)
	}
}

// metrics answers in the Prometheus text format, version 0.0.4.
func metrics(s *Server, c *call) error {
	var b bytes.Buffer
	s.agent.Health.WriteMetrics(&b)
	if s.metrics != nil {
		s.metrics(&b)
	}
	fmt.Fprintf(&b, "# HELP roomgate_http_requests_total Requests answered.\n# TYPE roomgate_http_requests_total counter\n")
	for class := 2; class < len(s.counts.classes); class++ {
		fmt.Fprintf(&b, "roomgate_http_requests_total{code=\"%dxx\"} %d\n", class, s.counts.classes[class].Load())
	}
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"http_streams", "gauge", "Event streams that are open.", s.streams.open.Load()},
		{"http_connections", "gauge", "Connections that are open.", s.counts.open.Load()},
		{"http_connections_refused_total", "counter", "Connections closed because one network had too many without a credential.", int64(s.counts.refused.Load())},
		{"http_connections_displaced_total", "counter", "Connections closed to make room for others.", int64(s.counts.displaced.Load())},
	} {
		fmt.Fprintf(&b, "# HELP roomgate_%s %s\n# TYPE roomgate_%s %s\nroomgate_%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	return c.text("text/plain; version=0.0.4; charset=utf-8", b.Bytes())
}
