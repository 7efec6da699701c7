package acceptance

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // the formats of pictures
	_ "image/png"
	"strconv"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

const (
	// moment is how long a person looks at one thing.
	moment = time.Second
	// settles is how long a fan may take to come to its speed.
	settles = 2 * time.Second
	// moves is how long a person may take to be noticed.
	moves = 20 * time.Second
)

// try is one command with what is expected.
type try struct {
	action string
	value  any
	judge  func(*device.Evidence) string
}

// all tries one command after the other, each looked at for a moment.
func (w *walk) all(ctx context.Context, sub string, tries ...try) error {
	for _, t := range tries {
		if _, err := w.command(ctx, sub, t.action, t.value, t.judge); err != nil {
			return err
		}
		if err := w.look(ctx, moment); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) lock(ctx context.Context) error {
	err := w.all(ctx, "", try{drivers.ActOpen, nil, becomes(drivers.Open)}, try{drivers.ActClose, nil, becomes(drivers.Closed)})
	if err != nil {
		return err
	}
	return w.ask(ctx, "", "did the lock of "+w.room.Name+" click open, and is the door locked again?")
}

func (w *walk) light(ctx context.Context) error {
	err := w.all(ctx, "",
		try{drivers.ActOn, nil, becomes(drivers.On)},
		try{drivers.ActIntensity, 100, shows("intensity", 100)},
		try{drivers.ActIntensity, 40, shows("intensity", 40)},
		try{drivers.ActOff, nil, becomes(drivers.Off)})
	if err != nil {
		return err
	}
	return w.ask(ctx, "", "did the light of "+w.room.Name+" shine, get dimmer and go out?")
}

// fan also compares the speeds, where there is a tachometer.
func (w *walk) fan(ctx context.Context) error {
	slow, err := w.speed(ctx, 50)
	if err != nil {
		return err
	}
	fast, err := w.speed(ctx, 100)
	if err != nil {
		return err
	}
	if slow > 0 || fast > 0 {
		s := Step{Name: "faster at 100 % than at 50 %", Result: Passed, Source: "tachometer",
			Seen: fmt.Sprintf("%.0f and %.0f rpm", fast, slow)}
		if fast <= slow {
			s.Result, s.Note = Failed, "the speed does not follow: check that the pwm wire and the tachometer are those of one fan"
		}
		w.add(s)
	}
	if err := w.all(ctx, "", try{drivers.ActOff, nil, becomes(drivers.Off)}); err != nil {
		return err
	}
	return w.ask(ctx, "", "did the fan of "+w.room.Name+" run up and stop?")
}

// speed asks for an intensity and returns the rpm that it leads to, 0 if nobody
// counts. The command is given again once the fan has settled, because its
// evidence is a count of now.
func (w *walk) speed(ctx context.Context, percent int) (rpm float64, err error) {
	counted := false
	_, err = w.command(ctx, "", drivers.ActIntensity, percent, func(e *device.Evidence) string {
		_, counted = e.Details["rpm"]
		return shows("intensity", percent)(e)
	})
	if err != nil || !counted {
		return 0, err
	}
	if err := pause(ctx, settles); err != nil {
		return 0, err
	}
	receipt, err := w.room.do(ctx, Command{DeviceType: w.device.Type, Action: drivers.ActIntensity, Value: percent})
	if gone(ctx, err) {
		return 0, err
	}
	if receipt.Evidence != nil {
		rpm, _ = number(receipt.Evidence.Details["rpm"])
	}
	return rpm, nil
}

func number(v any) (float64, bool) {
	f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	return f, err == nil
}

// camera takes a picture, and proves the privacy switch.
func (w *walk) camera(ctx context.Context) error {
	if err := w.all(ctx, "", try{drivers.ActOn, nil, becomes(drivers.On)}); err != nil {
		return err
	}
	ok, err := w.command(ctx, "", drivers.ActSnapshot, nil, anything)
	if err != nil {
		return err
	}
	if ok && takes(w.device, "", drivers.ActSnapshot) {
		if err := w.picture(ctx, "the camera of "+w.room.Name, "show "+w.room.Name); err != nil {
			return err
		}
	}
	return w.privacy(ctx)
}

func (w *walk) privacy(ctx context.Context) error {
	if !takes(w.device, "", drivers.ActOff) || !takes(w.device, "", drivers.ActSnapshot) {
		return nil
	}
	if ok, err := w.command(ctx, "", drivers.ActOff, nil, becomes(drivers.Off)); !ok || err != nil {
		return err
	}
	s := Step{Name: "no picture while it is off", Result: Passed}
	receipt, err := w.room.do(ctx, Command{DeviceType: w.device.Type, Action: drivers.ActSnapshot})
	if gone(ctx, err) {
		return err
	}
	if err == nil {
		s.Result, s.Note = Failed, "it took a picture all the same"
	} else {
		s.Seen = "refused: " + cmp.Or(receipt.Reason, err.Error())
	}
	w.add(s)
	return nil
}

// picture fetches the last picture, checks that it is one, and has a person
// look at it, whether it does what it should.
func (w *walk) picture(ctx context.Context, caption, should string) error {
	raw, err := w.room.Picture(ctx, w.device.Type)
	if gone(ctx, err) {
		return err
	}
	s := Step{Name: "picture", Result: Passed}
	size, _, wrong := image.DecodeConfig(bytes.NewReader(raw.Data))
	switch {
	case err != nil:
		s.Result, s.Note = Failed, err.Error()
	case wrong != nil:
		s.Result, s.Note = Failed, "it is neither JPEG nor PNG"
	}
	if s.Result == Failed {
		w.add(s)
		return nil
	}
	p := Picture{Caption: caption, At: time.Now().UTC(), ContentType: raw.ContentType, Width: size.Width, Height: size.Height,
		SHA256: fingerprint(raw.Data), Data: raw.Data}
	s.Seen = fmt.Sprintf("%d x %d, %d bytes of %s", size.Width, size.Height, len(raw.Data), raw.ContentType)
	w.add(s)
	w.report.Pictures = append(w.report.Pictures, p)
	question := Step{Name: "does the picture " + should + "?"}
	if w.person.Show == nil {
		return w.askFor(ctx, question, question.Name)
	}
	where, err := w.person.Show(p)
	if err != nil {
		return err
	}
	return w.askFor(ctx, question, "look at "+where+": does it "+should+"?")
}

func (w *walk) display(ctx context.Context, before []device.Reading) error {
	tries := []try{{drivers.ActOn, nil, anything}, {drivers.ActMessage, greeting(w.room.Name), anything}}
	if err := w.all(ctx, "", tries...); err != nil {
		return err
	}
	if err := w.ask(ctx, "", "does the display say "+strconv.Quote(greeting(w.room.Name))+"?"); err != nil {
		return err
	}
	if takes(w.device, "", drivers.ActScreenshot) {
		ok, err := w.command(ctx, "", drivers.ActScreenshot, nil, anything)
		if err == nil && ok {
			err = w.picture(ctx, "the display of "+w.room.Name, "show what the display shows")
		}
		if err != nil {
			return err
		}
	}
	if _, wired := find(before, "").Details["backlight"]; !wired {
		return nil
	}
	err := w.all(ctx, "", try{drivers.ActOff, nil, shows("backlight", drivers.Off)}, try{drivers.ActOn, nil, shows("backlight", drivers.On)})
	if err != nil {
		return err
	}
	return w.ask(ctx, "", "did the screen go dark and light up again?")
}
