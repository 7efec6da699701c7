package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/drivers/all"
)

// TestLogInsEndInTime: a hundred devices that answer nobody take no longer than the doctor has, and
// who was not asked is named. One that answers is asked beside them.
func TestLogInsEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), checkTime)
		defer cancel()
		tried := []trial{{doctor.LogIn{At: "cloud"}, func(context.Context) (bool, bool, bool) { return true, false, true }, askTime}}
		for range 100 {
			tried = append(tried, trial{LogIn: doctor.LogIn{Device: "dark"}, try: func(ctx context.Context) (bool, bool, bool) {
				<-ctx.Done()
				return false, false, true
			}})
		}
		began, untried := time.Now(), 0
		found := tryLogIns(ctx, tried)
		for _, l := range found {
			if l.Untried {
				untried++
			}
		}
		if len(found) != len(tried) || !found[0].Answers || time.Since(began) >= checkTime {
			t.Errorf("%d of %d found, %d not tried, the first %+v, after %v", len(found), len(tried), untried, found[0], time.Since(began))
		}
		if untried == 0 || untried > len(tried)-2*atOnce {
			t.Errorf("%d of %d were not tried", untried, len(tried))
		}
	})
}

// TestCameraLogIn: the password of a network camera is tried, and nothing of its path is shown.
func TestCameraLogIn(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "right" {
			w.Header().Set("WWW-Authenticate", `Basic realm="camera"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	for _, one := range []struct {
		login   string
		refused bool
		n       int
	}{{"username: admin, password: right", false, 1}, {"username: admin, password: wrong", true, 1}, {"auth: none", false, 0}} {
		c, err := config.Parse("gateway.yaml", []byte(`gateway: {id: a}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Aurora
    devices:
      - {id: aurora-camera, type: camera, driver: camera-http, options: {url: "`+s.URL+`/canary.jpg", `+one.login+`}}
`), all.All())
		if err != nil {
			t.Fatal(err)
		}
		found := logIns(t.Context(), c)
		if len(found) != one.n {
			t.Fatalf("%s: %+v", one.login, found)
		}
		for _, l := range found {
			if !l.Answers || l.Refused != one.refused || l.Device != "aurora-camera" || l.At != strings.TrimPrefix(s.URL, "http://") {
				t.Errorf("%s: %+v", one.login, l)
			}
		}
	}
}
