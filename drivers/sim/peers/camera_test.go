package peers

import (
	"bytes"
	"image/jpeg"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers/sim"
)

const cameraURL = "http://10.0.0.8/snapshot.jpg"

// look asks the camera as any client does.
func look(t *testing.T, w *sim.World, url, user, password string) (int, http.Header, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	client := http.Client{
		Transport:     &http.Transport{DialContext: w.Dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       10 * time.Second,
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, res.Header, data, err
}

func testCamera(t *testing.T, auth string, test func(t *testing.T, w *sim.World, c *Camera)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &Camera{Address: "10.0.0.8:80", Auth: auth, Username: "viewer", Password: "s3same"}
		test(t, world(t, c), c)
	})
}

func TestCameraPicture(t *testing.T) {
	testCamera(t, "", func(t *testing.T, w *sim.World, c *Camera) {
		var last []byte
		for range 2 {
			code, header, data, err := look(t, w, cameraURL, "", "")
			if err != nil || code != 200 || header.Get("Content-Type") != "image/jpeg" {
				t.Fatalf("%d, %v, %v", code, header, err)
			}
			if m, err := jpeg.Decode(bytes.NewReader(data)); err != nil || m.Bounds().Dx() != 640 {
				t.Fatalf("no picture: %v", err)
			}
			if bytes.Equal(data, last) {
				t.Error("the picture does not show the time")
			}
			last = data
			time.Sleep(time.Second)
		}
		if c.Pictures() != 2 {
			t.Errorf("%d pictures", c.Pictures())
		}
		if code, _, _, err := look(t, w, "http://10.0.0.8/", "", ""); err != nil || code != 404 {
			t.Errorf("another path: %d, %v", code, err)
		}
	})
}

func TestCameraLogin(t *testing.T) {
	for _, c := range []struct {
		auth, user, password string
		code                 int
		asks                 string // what WWW-Authenticate names
	}{
		{"basic", "", "", 401, "Basic"},
		{"basic", "viewer", "s3same", 200, ""},
		{"basic", "viewer", "wrong", 401, ""},
		{"digest", "", "", 401, "Digest"},
		{"digest", "viewer", "s3same", 401, "Digest"},
		{"both", "", "", 401, "Basic Digest"},
		{"both", "viewer", "s3same", 200, ""},
	} {
		testCamera(t, c.auth, func(t *testing.T, w *sim.World, _ *Camera) {
			code, header, _, err := look(t, w, cameraURL, c.user, c.password)
			var asks []string
			for _, h := range header.Values("WWW-Authenticate") {
				asks = append(asks, strings.Fields(h)[0])
			}
			if err != nil || code != c.code || strings.Join(asks, " ") != c.asks {
				t.Errorf("%+v: %d, asks %q, %v", c, code, asks, err)
			}
		})
	}
}

// TestCameraDigest: the example of RFC 2617, 3.5, which RFC 7616 keeps.
func TestCameraDigest(t *testing.T) {
	c := &Camera{}
	got := c.hash(c.hash("Mufasa", "testrealm@host.com", "Circle Of Life"), "dcd98b7102dd2f0e8b11d0f600bfb0c093",
		"00000001", "0a4f113b", "auth", c.hash("GET", "/dir/index.html"))
	if got != "6629fae49393a05397450978507c4ef1" {
		t.Errorf("got %s", got)
	}
}

func TestCameraMoods(t *testing.T) {
	testCamera(t, "", func(t *testing.T, w *sim.World, c *Camera) {
		_, _, whole, err := look(t, w, cameraURL, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for mood, good := range map[string]func(code int, data []byte, err error) bool{
			"fail":     func(code int, _ []byte, err error) bool { return err == nil && code == 503 },
			"truncate": func(code int, d []byte, err error) bool { return err == nil && len(d) < len(whole) },
			"abort":    func(code int, d []byte, err error) bool { return err != nil && code == 200 },
			"hang":     func(_ int, _ []byte, err error) bool { return err != nil },
			"endless":  func(code int, d []byte, err error) bool { return err == nil && len(d) == 1<<20 },
			"else":     func(code int, d []byte, err error) bool { return err == nil && d[0] == '<' },
			"stray":    func(code int, _ []byte, err error) bool { return err == nil && code == 302 },
			"well":     func(code int, d []byte, err error) bool { return err == nil && len(d) > len(whole)/2 },
		} {
			if _, err := w.Control("aurora", "thing", mood); err != nil {
				t.Fatal(err)
			}
			code, _, data, err := look(t, w, cameraURL, "", "")
			if !good(code, data, err) {
				t.Errorf("%s: %d, %d bytes, %v", mood, code, len(data), err)
			}
		}
		c.Unplug()
		if _, _, _, err := look(t, w, cameraURL, "", ""); err == nil {
			t.Error("an unplugged camera answers")
		}
		synctest.Wait()
	})
}
