package message

import (
	"errors"
	"strings"
	"testing"
	"time"

	"roomgate/agent/problem"
)

func good() Request {
	return Request{To: To{Email: "ada@example.com"}, Title: " The room is free ", Body: "Aurora\nuntil 11:00"}
}

func TestRequestIsChecked(t *testing.T) {
	r := good()
	if err := r.Check(); err != nil || r.Title != "The room is free" || r.Priority != Normal {
		t.Fatalf("%+v, %v", r, err)
	}
	for field, spoil := range map[string]func(r *Request){
		"to":       func(r *Request) { r.To = To{} },
		"to ":      func(r *Request) { r.To.UserID = "ada" },
		"to.email": func(r *Request) { r.To.Email = "Ada <ada@example.com>" },
		"to.topic": func(r *Request) { r.To = To{Topic: "a/b"} },
		"title":    func(r *Request) { r.Title = " " },
		"title ":   func(r *Request) { r.Title = "two\nlines" },
		"title  ":  func(r *Request) { r.Title = strings.Repeat("a", longestTitle+1) },
		"body":     func(r *Request) { r.Body = "" },
		"body ":    func(r *Request) { r.Body = "\x1b[2J" },
		"body  ":   func(r *Request) { r.Body = strings.Repeat("ä", longestBody/2+1) },
		"body   ":  func(r *Request) { r.Body = "\xff" },
		"priority": func(r *Request) { r.Priority = "max" },
		"ttl":      func(r *Request) { r.Life, r.ExpiresAt = time.Minute, time.Now() },
		"ttl ":     func(r *Request) { r.Life = LongestLife + 1 },
		"ttl  ":    func(r *Request) { r.Life = -1 },
	} {
		r := good()
		spoil(&r)
		var p *problem.Error
		if err := r.Check(); !errors.As(err, &p) || p.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestLife(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		r       Request
		trusted bool
		want    time.Duration // 0: refused
	}{
		{Request{}, true, UsualLife},
		{Request{Life: time.Minute}, true, time.Minute},
		{Request{Life: time.Minute}, false, time.Minute},
		{Request{ExpiresAt: now.Add(time.Hour)}, true, time.Hour},
		{Request{ExpiresAt: now}, true, 0},
		{Request{ExpiresAt: now.Add(LongestLife + time.Second)}, true, 0},
		{Request{ExpiresAt: now.Add(-time.Hour)}, false, UsualLife}, // who knows what time it is
	} {
		life, err := c.r.LifeAt(now, c.trusted)
		if life != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%+v: %v, %v", c, life, err)
		}
	}
}

func TestPrintTellsRequestsApart(t *testing.T) {
	a, b := good(), good()
	if a.Print() != b.Print() {
		t.Error("the same request is another")
	}
	for _, spoil := range []func(r *Request){
		func(r *Request) { r.Body += "!" }, func(r *Request) { r.To.Email = "b@example.com" }, func(r *Request) { r.SpaceID = "a" },
		func(r *Request) { r.Life = time.Second }, func(r *Request) { r.ExpiresAt = time.Unix(1, 0) }, func(r *Request) { r.Priority = High },
	} {
		c := good()
		spoil(&c)
		if c.Print() == a.Print() {
			t.Errorf("%+v is the same", c)
		}
	}
}
