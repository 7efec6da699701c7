//go:build lab

package lab

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// The board, as the kernel names it. The inputs are what parts drive.
const (
	device  = "/dev/labhw"
	pwmChip = "pwmchip0/"
	i2cBus  = "i2c-0"
	spiPort = "spidev0.0"
)

var inputs = []string{"sense", "contact", "tach", "pir"}

// outside is the world at the other end of the board's wires.
type outside struct {
	world *sim.World
	file  *os.File
	stop  context.CancelFunc
	all   sync.WaitGroup

	mu    sync.Mutex
	log   []entry
	marks chan string
	moves chan move

	parts   sync.Mutex // held while a part is driven
	outputs map[string]drivers.Output
	pwms    map[string]drivers.PWM
	port    drivers.SPI
	speed   string
}

// entry is a line of the board's log.
type entry struct {
	at   time.Time
	text string // "gpio relay 1"
}

// attach wires a world to the board, which is as after power-up.
func attach(w *sim.World) (*outside, error) {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	o := &outside{world: w, file: f, stop: stop, marks: make(chan string, 1), moves: make(chan move, 4096),
		outputs: map[string]drivers.Output{}, pwms: map[string]drivers.PWM{}}
	if err := o.tell("reset\nmark sync"); err != nil {
		return nil, err
	}
	o.all.Go(o.read)
	o.all.Go(func() { o.wires(ctx) })
	<-o.marks
	o.log = nil // the loss of power itself is none of its business
	for _, name := range inputs {
		if in, err := w.Input(name, drivers.PullUp); err == nil {
			o.all.Go(func() { o.drive(ctx, name, in) })
		} else {
			_ = o.tell("wire " + name + " z")
		}
	}
	time.Sleep(5 * lag) // until the inputs have their levels
	return o, nil
}

// Close takes the world off the board.
func (o *outside) Close() {
	o.stop()
	_ = o.file.Close()
	o.world.Close()
	o.all.Wait()
}

// tell gives the board commands.
func (o *outside) tell(commands string) error {
	_, err := o.file.WriteString(commands + "\n")
	return err
}

// sync waits until everything that the board did so far has reached the parts.
func (o *outside) sync() {
	if o.tell("mark sync") == nil {
		<-o.marks
	}
}

// entries is the board's log since it was attached.
func (o *outside) entries() []entry {
	o.sync()
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

// read carries out what the board reports until it is closed.
func (o *outside) read() {
	defer close(o.marks)
	lines := bufio.NewScanner(bufio.NewReaderSize(o.file, 1<<16))
	lines.Buffer(nil, 1<<16)
	for lines.Scan() {
		stamp, text, _ := strings.Cut(lines.Text(), " ")
		o.note(stamp, text)
		words := strings.Fields(text)
		switch words[0] {
		case "gpio":
			o.apply(func() { o.output(words[1], words[2]) })
		case "pwm":
			o.apply(func() { o.duty(words[1], words[2], words[3]) })
		case "i2c": // apart, because a chip that is stuck keeps its wires only
			o.all.Go(func() { o.chip(words) })
		case "spi":
			o.all.Go(func() { o.shift(words) })
		case "mark":
			if words[1] != "note" {
				o.marks <- words[1]
			}
		}
	}
}

func (o *outside) note(stamp, text string) {
	ns, _ := strconv.ParseInt(stamp, 10, 64)
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, entry{time.Now().Add(time.Duration(ns - now.Nano())), text})
}

// apply does something to a part, one at a time. One that is stuck does it
// once it is free; the board does not wait for it.
func (o *outside) apply(f func()) {
	done := make(chan struct{})
	o.all.Go(func() {
		defer close(done)
		o.parts.Lock()
		defer o.parts.Unlock()
		f()
	})
	select {
	case <-done:
	case <-time.After(200 * time.Millisecond):
	}
}

// output moves a wire that the board drives. What the part makes of it the
// board cannot know.
func (o *outside) output(name, level string) {
	if level == "in" {
		return // the resistor of the part holds it where it was
	}
	wire, ok := o.outputs[name]
	if !ok {
		var err error
		if wire, err = o.world.Output(name, level == "1"); err == nil {
			o.outputs[name] = wire
		}
		return
	}
	_ = wire.Set(level == "1")
}

func (o *outside) duty(number, duty, period string) {
	on, _ := strconv.ParseFloat(duty, 64)
	whole, _ := strconv.ParseFloat(period, 64)
	if whole <= 0 {
		return
	}
	name := pwmChip + number
	if o.pwms[name] == nil {
		p, err := o.world.PWM(name, physic.PeriodToFrequency(time.Duration(whole)))
		if err != nil {
			return
		}
		o.pwms[name] = p
	}
	_ = o.pwms[name].SetDuty(on / whole)
}

// chip answers "i2c SEQ ADDR READ HEX".
func (o *outside) chip(words []string) {
	addr, _ := strconv.ParseUint(words[2], 16, 16)
	count, _ := strconv.Atoi(words[3])
	r := make([]byte, count)
	bus, err := o.world.I2C(i2cBus)
	if err == nil {
		err = bus.Tx(uint16(addr), unhex(words[4]), r)
	}
	errno := syscall.Errno(0)
	switch {
	case errors.Is(err, drivers.ErrClosed):
		return
	case errors.Is(err, drivers.ErrOffline), errors.Is(err, drivers.ErrNoLine), errors.Is(err, syscall.ENXIO):
		errno = syscall.ENXIO
	case err != nil:
		errno = syscall.EIO
	}
	o.reply(words[1], errno, r)
}

// shift answers "spi SEQ SPEED HEX". Nobody on such a bus says that he is there.
func (o *outside) shift(words []string) {
	if o.port == nil || o.speed != words[2] {
		if o.port != nil {
			_ = o.port.Close()
		}
		hertz, _ := strconv.Atoi(words[2])
		o.port, _ = o.world.SPI(spiPort, physic.Frequency(hertz)*physic.Hertz, spi.Mode0)
		o.speed = words[2]
	}
	if o.port != nil {
		_ = o.port.Tx(unhex(words[3]), nil)
	}
	o.reply(words[1], 0, nil)
}

func (o *outside) reply(seq string, errno syscall.Errno, data []byte) {
	text := "-"
	if len(data) > 0 {
		text = hex.EncodeToString(data)
	}
	_ = o.tell(fmt.Sprintf("reply %s %d %s", seq, int(errno), text)) // too late is too late
}

func unhex(text string) []byte {
	data, _ := hex.DecodeString(text)
	return data
}
