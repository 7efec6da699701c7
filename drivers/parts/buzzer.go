package parts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"roomgate/drivers"
)

// alarmBeat is the length of one sound and of one pause of an alarm.
const alarmBeat = 100 * time.Millisecond

// buzzer is the line to the buzzer.
type buzzer struct {
	line   drivers.Output
	name   string
	silent bool // the level at which it does not sound
	beep   show

	mu  sync.Mutex
	on  bool // what the line was told
	err error
}

func (b *buzzer) describe() drivers.SubDevice {
	return drivers.SubDevice{
		Name:    drivers.SubBuzzer,
		Summary: "a buzzer",
		Values:  []string{drivers.On, drivers.Off},
		Actions: []drivers.Action{
			{Name: drivers.ActOn, Summary: "sound the buzzer until it is switched off"},
			{Name: drivers.ActOff, Summary: "silence the buzzer, and end a beep"},
			{
				Name:    drivers.ActBeep,
				Summary: "beep once, twice, three times or like an alarm, for that many seconds in all",
				Params: []drivers.Param{
					{
						Name: "pattern", Kind: drivers.KindChoice,
						Choices: []string{"single", "double", "triple", "alarm"}, Default: "single",
					},
					{Name: "seconds", Kind: drivers.KindNumber, Unit: "s", Min: 0.1, Max: 10, Default: 1.0},
				},
			},
		},
	}
}

func (b *buzzer) title() string { return "buzzer " + b.name }

// poll sends the level again: the buzzer itself says nothing, but a line that
// is gone fails.
func (b *buzzer) poll(context.Context) drivers.Status {
	b.mu.Lock()
	on := b.on
	b.mu.Unlock()
	if !b.beep.playing() { // a beep does the same with each of its beats
		_ = b.set(on)
	}
	return b.status()
}

func (b *buzzer) status() drivers.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return drivers.Status{Err: b.err}
	}
	return drivers.Status{
		Value:      drivers.OnOff(b.on || b.beep.playing()),
		ObservedAt: time.Now(),
		Source:     drivers.SourceCommand,
	}
}

func (b *buzzer) do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := b.beep.stop(ctx); err != nil {
		return drivers.Status{}, err
	}
	if err := b.set(c.Action != drivers.ActOff); err != nil {
		return drivers.Status{}, err
	}
	if c.Action == drivers.ActBeep {
		rhythm := beats(c.Args.Text("pattern"), time.Duration(c.Args.Number("seconds")*float64(time.Second)))
		b.beep.start(func(ctx context.Context) { b.play(ctx, rhythm) })
	}
	return b.status(), nil
}

// play sounds and pauses in turn; the first sound has begun.
func (b *buzzer) play(ctx context.Context, rhythm []time.Duration) {
	for i, beat := range rhythm {
		if i > 0 && b.set(i%2 == 0) != nil {
			break
		}
		if !pause(ctx, beat) {
			break
		}
	}
	_ = b.set(false) // told by the next poll
}

// beats are the lengths of the sounds and the pauses between them. They add up
// to no more than the whole.
func beats(pattern string, whole time.Duration) []time.Duration {
	n, beat := 1, whole
	switch pattern {
	case "double":
		n, beat = 3, whole/3
	case "triple":
		n, beat = 5, whole/5
	case "alarm":
		n, beat = max(1, int(whole/alarmBeat)), alarmBeat
	}
	rhythm := make([]time.Duration, n)
	for i := range rhythm {
		rhythm[i] = beat
	}
	return rhythm
}

func (b *buzzer) set(on bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = b.line.Set(on != b.silent)
	if b.err != nil {
		b.err = fmt.Errorf("%s: %w", b.title(), b.err)
		return b.err
	}
	b.on = on
	return nil
}

func (b *buzzer) close() error {
	err := b.beep.end()
	if e := b.set(false); err == nil {
		err = e
	}
	if e := b.line.Close(); err == nil {
		err = e
	}
	return err
}
