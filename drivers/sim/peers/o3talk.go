package peers

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// o3Idle is what the speaker reports while it is silent.
const o3Idle = "(0) Idle (Off).wav"

// o3Clock is a clock that was set to some other place.
var o3Clock = time.FixedZone("", -7*60*60)

// o3Orders are the numbers that the hub takes, with their ranges and what it
// starts with.
var o3Orders = map[string]struct{ low, high, start float64 }{
	"lightringPattern":       {1, 13, 1},
	"lightringRepeat":        {1, 255, 1},
	"lightringRed":           {0, 100, 0},
	"lightringGreen":         {0, 100, 0},
	"lightringBlue":          {0, 100, 0},
	"lightringColorOverride": {0, 1, 0},
	"lightringBrightness":    {0, 100, 50},
	"soundRepeat":            {1, 255, 1},
	"volume":                 {0, 100, 50},
}

// o3Sound is a sound's file with its number: 26 default sounds and up to 25
// of one's own.
var o3Sound = regexp.MustCompile(`^\((\d{1,2})\) (.+)\.wav$`)

const longestO3Sound = 100 // characters of its name

func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }

// obey carries out {"data": ...} on a subtopic, and reports what it became. A
// number may come as text.
func (o *O3) obey(name string, payload []byte) {
	var order struct {
		Data any `json:"data"`
	}
	if json.Unmarshal(payload, &order) != nil {
		return
	}
	o.change(func() {
		if o.numb {
			return
		}
		if name == "soundfile" {
			o.play(order.Data)
			return
		}
		number, ok := order.Data.(float64)
		if text, isText := order.Data.(string); isText {
			parsed, err := strconv.ParseFloat(text, 64)
			number, ok = parsed, err == nil
		}
		if r, known := o3Orders[name]; ok && known && number >= r.low && number <= r.high {
			o.set(name, math.Round(number))
		}
	})
}

// play starts a sound that the hub has; number 0 is silence.
func (o *O3) play(data any) {
	name, _ := data.(string)
	match := o3Sound.FindStringSubmatch(name)
	if match == nil || utf8.RuneCountInString(match[2]) > longestO3Sound {
		return
	}
	n, err := strconv.Atoi(match[1])
	switch {
	case err != nil || n > 50:
		return
	case n == 0:
		o.sound = o3Idle
	default:
		o.sound = name
		o.ends = time.Now().Add(time.Duration(o.numbers["soundRepeat"]) * o3SoundLength)
		o.played = append(o.played, name)
		o.played = slices.Delete(o.played, 0, max(0, len(o.played)-maxSounds))
	}
	o.tell("soundfile")
}

// speak publishes the news.
func (o *O3) speak() {
	o.mu.Lock()
	news := slices.DeleteFunc(o.news, func(name string) bool { return o.silences.about(name) == missing })
	var messages []said
	o.news = nil
	for i, name := range news {
		m := said{o.topic("events/object/") + name, string(o.message(name, i)), false}
		messages = append(messages, o.disorder.of(m, o.meaning(name))...)
	}
	muted := o.muted
	o.mu.Unlock()
	if muted {
		return
	}
	for _, m := range messages {
		// Nobody listening is not an error, and there is no other.
		_ = o.broker.Publish(m.topic, []byte(m.payload), false, 0)
	}
}

// meaning is what a report says, whenever it is made.
func (o *O3) meaning(name string) string {
	if n, ok := o.numbers[name]; ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return o.sound
}

func (o *O3) topic(part string) string {
	if o.Prefix == "" {
		return part
	}
	return o.Prefix + "/" + part
}

// message is a report, as {"Present_Value": 24.51, "Units": "°C",
// "updated": "31-08-2021 23:09:26.21", "status": 0}.
func (o *O3) message(name string, nth int) []byte {
	var value any = o.sound
	report := map[string]any{
		"updated": time.Now().In(o3Clock).Format("02-01-2006 15:04:05.99"),
		"status":  0,
	}
	if n, ok := o.numbers[name]; ok {
		n, report["Units"] = o.units(name, n)
		value = n
		if o.Text {
			value = strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	if o.silences.about(name) == null {
		value = nil
	}
	report["Present_Value"] = value
	payload, err := json.Marshal(report)
	if err != nil {
		return nil
	}
	if o.babbles {
		return o3Nonsense[nth%len(o3Nonsense)](payload)
	}
	return payload
}

func (o *O3) units(name string, n float64) (float64, string) {
	switch {
	case strings.HasSuffix(name, "Humidity"):
		return n, "%"
	case !strings.HasSuffix(name, "Temperature"):
		return n, ""
	case o.Fahrenheit:
		return math.Round((n*1.8+32)*100) / 100, "°F"
	}
	return n, "°C"
}

// o3Nonsense is what a babbling hub makes of a report.
var o3Nonsense = []func([]byte) []byte{
	func(good []byte) []byte { return good[:len(good)/2] },
	func([]byte) []byte { return []byte(`{"Present_Value": 9999, "Units": "°C"}`) },
	func([]byte) []byte { return []byte(`{"Present_Value": null}`) },
	func([]byte) []byte { return []byte(strings.Repeat("[", 2000)) },
	func([]byte) []byte { return []byte(`{"Present_Value": "NaN"}`) },
}

// o3Hook is the hub's side of its broker.
type o3Hook struct {
	mqtt.HookBase
	hub *O3
}

// ID names the hook.
func (*o3Hook) ID() string { return "o3" }

// Provides says which calls the hook takes.
func (*o3Hook) Provides(b byte) bool {
	return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck || b == mqtt.OnPublish ||
		b == mqtt.OnSubscribed
}

// OnConnectAuthenticate lets clients with the right password in, and those
// that speak MQTT 3.1.1.
func (h *o3Hook) OnConnectAuthenticate(_ *mqtt.Client, pk packets.Packet) bool {
	return pk.ProtocolVersion == 4 && (h.hub.Username == "" ||
		string(pk.Connect.Username) == h.hub.Username && string(pk.Connect.Password) == h.hub.Password)
}

// OnACLCheck keeps clients from reporting in the hub's name.
func (h *o3Hook) OnACLCheck(_ *mqtt.Client, topic string, write bool) bool {
	return !write || strings.HasPrefix(topic, h.hub.topic("commands/object/"))
}

// OnSubscribed has the hub tell all that it knows, so that anybody who listens need
// not wait for the next full report.
func (h *o3Hook) OnSubscribed(_ *mqtt.Client, _ packets.Packet, _ []byte) {
	h.hub.change(h.hub.everything)
}

// OnPublish takes the orders.
func (h *o3Hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if name, ok := strings.CutPrefix(pk.TopicName, h.hub.topic("commands/object/")); ok && !cl.Net.Inline {
		h.hub.obey(name, pk.Payload)
	}
	return pk, nil
}
