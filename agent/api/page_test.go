package api

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/device"
	"roomgate/drivers"
)

// beat is a heartbeat of the page of Borealis.
func (b *building) beat(done string) []drivers.PageCommand {
	b.t.Helper()
	got := b.ask("POST", "/edge/heartbeat", `{"meeting_space_id":"`+borealis+`","done":`+done+`}`)
	var body struct {
		Orders []drivers.PageCommand `json:"orders"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.StatusCode != 200 || body.Orders == nil {
		b.t.Fatalf("heartbeat: %d %s", got.StatusCode, got.body)
	}
	return body.Orders
}

// give orders the display, and returns once the order is open.
func (b *building) give(action string, value string) <-chan device.Receipt {
	done := make(chan device.Receipt, 1)
	go func() {
		c := device.Command{Space: borealis, DeviceType: "meeting-room-display", Action: action, Via: device.ViaCLI}
		if value != "" {
			c.Value = json.RawMessage(value)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		r, err := b.agent.Commands.Do(ctx, c)
		if err != nil {
			b.t.Errorf("%s: %v", action, err)
		}
		done <- r
	}()
	synctest.Wait()
	return done
}

func picture(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bomb is a PNG of a few bytes that claims to be huge.
func bomb(t *testing.T) string {
	small := []byte(picture(t, 1, 1))
	binary.BigEndian.PutUint32(small[16:], 10000) // IHDR: width, height, then its CRC; 32-bit machines refuse more themselves
	binary.BigEndian.PutUint32(small[20:], 10000)
	binary.BigEndian.PutUint32(small[29:], crc32.ChecksumIEEE(small[12:29]))
	return string(small)
}

func TestPageBeatsAndObeys(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.beat("[]")
		time.Sleep(2 * time.Second)
		if r, _ := b.agent.Site.Status(borealis, "meeting-room-display", ""); r.Status != device.Online {
			t.Fatalf("the display is %s: %s", r.Status, r.Reason)
		}
		told := b.give("message", `"Welcome"`)
		orders := b.beat("[]")
		if len(orders) != 1 || orders[0].Action != "message" || orders[0].Text != "Welcome" {
			t.Fatalf("orders are %+v", orders)
		}
		if left := b.beat(fmt.Sprintf(`[{"id":%d}]`, orders[0].ID)); len(left) != 0 {
			t.Errorf("left are %+v", left)
		}
		if r := <-told; r.State != device.Done {
			t.Errorf("receipt is %+v", r)
		}
	})
}

func TestScreenshot(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/meetingspace/" + borealis + "/screenshot"
		b.beat("[]")
		time.Sleep(2 * time.Second)
		checkProblem(t, "none yet", b.ask("GET", path), 404, "not_found", "")
		checkProblem(t, "nobody asked", b.ask("POST", path+"?order=1", "Content-Type: image/png", picture(t, 8, 8)), 404, "not_found", "order")
		checkProblem(t, "no number", b.ask("POST", path+"?order=x", "Content-Type: image/png", picture(t, 8, 8)), 422, "invalid", "order")
		checkProblem(t, "no display", b.ask("GET", "/meetingspace/"+aurora+"/screenshot"), 404, "not_found", "device_type")

		shot := b.give("screenshot", "")
		orders := b.beat("[]")
		if len(orders) != 1 || orders[0].Action != "screenshot" {
			t.Fatalf("orders are %+v", orders)
		}
		upload := fmt.Sprintf("%s?order=%d", path, orders[0].ID)
		checkProblem(t, "not a picture", b.ask("POST", upload, "Content-Type: image/png", "<html>"), 415, "unsupported_media_type", "")
		checkProblem(t, "text", b.ask("POST", upload, "Content-Type: text/html", "<html>"), 415, "unsupported_media_type", "Content-Type")
		checkProblem(t, "bomb", b.ask("POST", upload, "Content-Type: image/png", bomb(t)), 413, "payload_too_large", "")
		checkProblem(t, "too large", b.ask("POST", upload, "Content-Type: image/png", strings.Repeat("x", maxPicture+1)), 413, "payload_too_large", "")
		sent := picture(t, 320, 200)
		if got := b.ask("POST", upload, "Content-Type: image/png", sent); got.StatusCode != 200 {
			t.Fatalf("upload: %d %s", got.StatusCode, got.body)
		}
		if r := <-shot; r.State != device.Done {
			t.Fatalf("receipt is %+v", r)
		}
		got := b.ask("GET", path)
		if !samePicture(t, got.body, sent) || got.Header.Get("Content-Type") != "image/png" || got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Last-Modified") == "" {
			t.Errorf("the last one: %d %v", got.StatusCode, got.Header)
		}
	})
}

func TestHeartbeatRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct {
			name, body string
			status     int
			field      string
		}{
			{"no space", `{}`, 422, "meeting_space_id"},
			{"unknown space", `{"meeting_space_id":"x"}`, 404, "meeting_space_id"},
			{"done is no list", `{"meeting_space_id":"x","done":{}}`, 422, "done"},
			{"item is no object", `{"meeting_space_id":"x","done":[1]}`, 422, "done"},
			{"item without id", `{"meeting_space_id":"x","done":[{}]}`, 422, "done.id"},
			{"item with a picture", `{"meeting_space_id":"x","done":[{"id":1,"picture":""}]}`, 422, "done.picture"},
			{"too many", `{"meeting_space_id":"x","done":[` + strings.Repeat(`{"id":1},`, maxDone) + `{"id":1}]}`, 422, "done"},
		} {
			got := b.ask("POST", "/edge/heartbeat", c.body)
			checkProblem(t, c.name, got, c.status, map[int]string{404: "not_found", 422: "invalid"}[c.status], c.field)
		}
	})
}

func TestKeys(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		got := b.socket.do(t, "POST", "/gateway/keys", `{"name":"display"}`)
		var made struct {
			Key    access.Key `json:"key"`
			Secret string     `json:"secret"`
		}
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.StatusCode != 201 {
			t.Fatalf("create: %d %s", got.StatusCode, got.body)
		}
		with := "X-API-Key: " + made.Secret
		list := b.net.do(t, "GET", "/gateway/keys", with)
		if list.StatusCode != 200 || strings.Contains(list.body, made.Secret) || !strings.Contains(list.body, made.Key.ID) {
			t.Errorf("list: %d %s", list.StatusCode, list.body)
		}
		if got := b.ask("DELETE", "/gateway/keys/"+made.Key.ID); got.StatusCode != 204 || got.body != "" {
			t.Errorf("revoke: %d %s", got.StatusCode, got.body)
		}
		checkProblem(t, "revoked", b.net.do(t, "GET", "/gateway/keys", with), 401, "unauthorized", "X-API-Key")
		checkProblem(t, "unknown", b.ask("DELETE", "/gateway/keys/none"), 404, "not_found", "id")
		for body, field := range map[string]string{`{}`: "name", `{"name":" "}`: "name", `{"name":"x","expires_at":"soon"}`: "expires_at",
			`{"name":"x","expires_at":"1999-01-01T00:00:00Z"}`: "expires_at", `{"name":"x","secret":"y"}`: "secret"} {
			checkProblem(t, body, b.ask("POST", "/gateway/keys", body), 422, "invalid", field)
		}
		if strings.Contains(b.log.String(), made.Secret) || strings.Contains(b.log.String(), systemKey) {
			t.Error("the log shows a secret")
		}
	})
}
