package camera_test

import (
	"testing"
	"testing/synctest"

	"roomgate/drivers"
	"roomgate/drivers/camera"
	"roomgate/drivers/sim"
)

// TestRefuses: user and password are tried in each way in which a camera asks for them. One that
// is not there refuses nothing.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		camera, password  string
		answered, refused bool
	}{
		{"basic", "s3same", true, false}, {"basic", "wr0ng", true, true},
		{"digest", "s3same", true, false}, {"digest", "wr0ng", true, true},
		{"", "s3same", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWorld()
			defer w.Close()
			if c.camera != "" {
				if err := w.Add("room", "camera", part(c.camera)); err != nil {
					t.Fatal(err)
				}
			}
			o := options()
			o.Password = drivers.Secret(c.password)
			answered, refused := camera.Refuses(t.Context(), w, *o)
			if answered != c.answered || refused != c.refused {
				t.Errorf("%s with %s: answered %v, refused %v", c.camera, c.password, answered, refused)
			}
		})
	}
}
