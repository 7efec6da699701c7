package api

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/goldentest"
	"roomgate/agent/web"
	"roomgate/agent/webhook"
)

// spec is the description of a version as data.
type spec struct {
	root map[string]any
	v2   bool
}

func parseSpec(t *testing.T, v2 bool) spec {
	t.Helper()
	s := spec{v2: v2}
	if err := yaml.Unmarshal(documentOf(v2).yaml, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// eachVersion runs f with both descriptions.
func eachVersion(t *testing.T, f func(t *testing.T, s spec)) {
	t.Run("V1.0", func(t *testing.T) { f(t, parseSpec(t, false)) })
	t.Run("V2.0", func(t *testing.T) { f(t, parseSpec(t, true)) })
}

// routes are those that it has to describe.
func (s spec) routes() []route {
	return slices.DeleteFunc(routes(), func(r route) bool { return r.v2() != s.v2 })
}

// at walks down by keys, and follows references; nil if there is nothing.
func (s spec) at(v any, keys ...string) any {
	for {
		m, _ := v.(map[string]any)
		if r, ok := m["$ref"].(string); ok {
			v = s.at(s.root, strings.Split(strings.TrimPrefix(r, "#/"), "/")...)
			if v == nil {
				panic("dangling reference " + r)
			}
			continue
		}
		if len(keys) == 0 {
			return v
		}
		v, keys = m[keys[0]], keys[1:]
	}
}

// operations yields every operation of the file as "METHOD path".
func (s spec) operations() map[string]any {
	out := map[string]any{}
	for path, item := range s.at(s.root, "paths").(map[string]any) {
		for method, operation := range item.(map[string]any) {
			out[strings.ToUpper(method)+" "+path] = operation
		}
	}
	return out
}

func TestDescriptionAndRoutesAreTheSame(t *testing.T) { eachVersion(t, checkRoutes) }

func checkRoutes(t *testing.T, s spec) {
	if s.root["openapi"] != "3.1.0" {
		t.Errorf("it is openapi %v", s.root["openapi"])
	}
	operations, ids := s.operations(), map[string]bool{}
	for _, r := range s.routes() {
		name := r.method + " " + r.path
		o := operations[name]
		if o == nil {
			t.Errorf("%s is not described", name)
			continue
		}
		delete(operations, name)
		if s.at(o, "summary") != r.summary {
			t.Errorf("%s is %q there and %q here", name, s.at(o, "summary"), r.summary)
		}
		if open, _ := s.at(o, "security").([]any); (open != nil) != (r.permission == permitAll) {
			t.Errorf("%s: who may is told otherwise", name)
		}
		s.checkOperation(t, name, o, r)
		id, _ := s.at(o, "operationId").(string)
		if id == "" || ids[id] {
			t.Errorf("%s: operationId is %q", name, id)
		}
		ids[id] = true
	}
	for name := range operations {
		t.Errorf("%s is described, and there is no such route", name)
	}
}

// checkOperation asks for a success, for errors, and for each value in the
// path.
func (s spec) checkOperation(t *testing.T, name string, o any, r route) {
	t.Helper()
	good := false
	for status := range s.at(o, "responses").(map[string]any) {
		good = good || status[0] == '2'
	}
	if !good || s.at(o, "responses", "default", "content", "application/problem+json") == nil {
		t.Errorf("%s: responses lack success or error", name)
	}
	var inPath []string
	parameters, _ := s.at(o, "parameters").([]any)
	for _, p := range parameters {
		if s.at(p, "in") == "path" {
			inPath = append(inPath, "{"+s.at(p, "name").(string)+"}")
		}
	}
	values := slices.DeleteFunc(r.segments(), func(v string) bool { return !strings.HasPrefix(v, "{") })
	if !slices.Equal(inPath, values) {
		t.Errorf("%s: path parameters are %v, want %v", name, inPath, values)
	}
}

// TestPageShowsEveryOperation reads the browsable page.
func TestPageShowsEveryOperation(t *testing.T) { eachVersion(t, checkPage) }

func checkPage(t *testing.T, s spec) {
	p := documentOf(s.v2).page("1 <2>")
	for _, r := range s.routes() {
		if !strings.Contains(p, "<b>"+r.method+"</b> <code>"+r.path+"</code>") {
			t.Errorf("%s %s is not shown", r.method, r.path)
		}
	}
	for name := range s.at(s.root, "components", "schemas").(map[string]any) {
		if !strings.Contains(p, `<section id="`+name+`">`) {
			t.Errorf("schema %s is not shown", name)
		}
	}
	if strings.Contains(p, "<pre></pre>") || strings.Contains(p, "<2>") || strings.Contains(p, `="http`) || strings.Contains(p, "url(") {
		t.Error("the page has an empty part, raw text, or a link outside")
	}
}

func (s spec) checkAnswer(t *testing.T, name string, o any, got answer) {
	t.Helper()
	if got.StatusCode == 204 && s.at(o, "responses", "204") != nil {
		return
	}
	media, _, _ := mime.ParseMediaType(got.Header.Get("Content-Type"))
	described := s.at(o, "responses", fmt.Sprint(got.StatusCode), "content", media)
	if described == nil {
		t.Errorf("%s: answer %d %s is not described", name, got.StatusCode, media)
	}
	schema := s.at(described, "schema")
	if schema == nil {
		return
	}
	var v any = got.body
	if strings.HasSuffix(media, "json") {
		if err := json.Unmarshal([]byte(got.body), &v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.valid(schema, v, "body"); err != nil {
		t.Errorf("%s: %v in %s", name, err, got.body)
	}
	checkTimes(t, name, v)
}

// checkTimes wants every time in an answer with milliseconds.
func checkTimes(t *testing.T, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil && len(v) != len(momentLayout) {
			t.Errorf("%s: the time %s is not one in UTC with milliseconds", name, v)
		}
	case []any:
		for _, inner := range v {
			checkTimes(t, name, inner)
		}
	case map[string]any:
		for _, inner := range v {
			checkTimes(t, name, inner)
		}
	}
}

// What webhooks are told is as described.
func TestNotificationsAreAsDescribed(t *testing.T) {
	eachVersion(t, func(t *testing.T, s spec) {
		schema := s.at(s.root, "components", "schemas", "Notification")
		made, err := webhook.TestPayload(webhook.Webhook{ID: "w", OrganizationID: "o"}, time.Unix(1e9, 0))
		if err != nil {
			t.Fatal(err)
		}
		alert, err := webhook.Encode(webhook.DeviceAlert, time.Unix(1e9, 0), "w", webhook.AlertData{Alert: "doorForced", Details: map[string]any{"a": 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{made, alert} {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			if err := s.valid(schema, v, "notification"); err != nil {
				t.Errorf("%s: %v", raw, err)
			}
		}
		if page := documentOf(s.v2).page("1"); !strings.Contains(page, "X-Webhook-Signature-Previous") {
			t.Error("the page does not show what webhooks are told")
		}
	})
}

// closedIn says whether a page loads and runs only what the gateway itself serves, and stands in no
// other page.
func closedIn(a answer) bool {
	policy := a.Header.Get("Content-Security-Policy")
	return strings.Contains(policy, "frame-ancestors 'none'") && strings.Contains(policy, "style-src 'self'") && !strings.Contains(policy, "unsafe")
}

// TestOpenAPIPageHasNothingInline: its stylesheet is a file of the gateway.
func TestOpenAPIPageHasNothingInline(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, path := range []string{"/openapi", "/v2.0/openapi"} {
			got, sheet := b.net.do(t, "GET", path), web.AssetPath("openapi.css")
			goldentest.Values(t, path, goldentest.Pairs{"StatusCode": {got.StatusCode, 200}, "closed in": {closedIn(got), true},
				"<style": {strings.Contains(got.body, "<style"), false}, "its stylesheet": {strings.Contains(got.body, sheet), true},
				"of which the status": {b.net.do(t, "GET", sheet).StatusCode, 200}})
		}
	})
}
