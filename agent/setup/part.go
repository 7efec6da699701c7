package setup

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Part is a kind of thing that a board has, and a device uses.
type Part int

// The parts; 0: it is none.
const (
	Lines Part = iota + 1
	Channels
	Ports
	Chips
	Cameras
)

var partNames = map[Part]string{Lines: "line", Channels: "channel", Ports: "port", Chips: "chip", Cameras: "camera"}

// Free are those of a kind that the board has and nobody uses, as the configuration names
// them.
func (b *Board) Free(p Part) (all []string) {
	switch p {
	case Chips:
		for _, c := range b.Chips {
			all = append(all, fmt.Sprintf("%s/%#x/%s", c.Bus, c.Address, c.Model))
		}
	case Cameras:
		for _, c := range b.Cameras {
			all = append(all, c.Path)
		}
	default:
		if names := b.names(p); names != nil {
			all = slices.Clone(*names)
		}
	}
	return all
}

func (b *Board) names(p Part) *[]string {
	return map[Part]*[]string{Lines: &b.Lines, Channels: &b.Channels, Ports: &b.Ports}[p]
}

// Take takes one from those that are free.
func (b *Board) Take(p Part, name string) {
	at := slices.Index(b.Free(p), name)
	switch names := b.names(p); {
	case at < 0 && p == Lines && slices.Contains(b.Ours, name):
		b.Ours = slices.DeleteFunc(b.Ours, func(ours string) bool { return ours == name })
		b.Taken = append(b.Taken, name+answered)
	case at < 0:
	case p == Chips:
		b.Chips = slices.Delete(slices.Clone(b.Chips), at, at+1)
	case p == Cameras:
		b.Cameras = slices.Delete(slices.Clone(b.Cameras), at, at+1)
	default:
		*names = slices.Delete(slices.Clone(*names), at, at+1)
		if p == Lines {
			b.Taken = append(b.Taken, name+answered)
		}
	}
}

// answered is behind a line that an answer before has asked for.
const answered = " (asked for by an answer before)"

// Release lets the lines that a program holds be asked for: a gateway that is set up again
// gives its own up.
func (b *Board) Release(program string) {
	held := " (" + InUseBy(program) + ")"
	for _, taken := range b.Taken {
		if name, ok := strings.CutSuffix(taken, held); ok {
			b.Ours = append(b.Ours, name)
		}
	}
	b.Taken = slices.DeleteFunc(slices.Clone(b.Taken), func(taken string) bool { return strings.HasSuffix(taken, held) })
}

// InUseBy says which program holds a line.
func InUseBy(program string) string { return "in use by " + program }

// Judge refuses what is no free part of the board. On a machine that has none of the
// kind, which may be no board, every name is taken that can be one.
func (b *Board) Judge(p Part, name string) error {
	free, wrong := b.Free(p), ""
	switch {
	case p == 0 || slices.Contains(free, name) || p == Lines && slices.Contains(b.Ours, name):
		return nil
	case p == Lines:
		wrong, _, _ = strings.Cut(Misnamed(name), seeSetup)
	case p == Channels:
		wrong, _, _ = strings.Cut(MisnamedChannel(name), seeSetup)
	case p == Cameras: // one that is not plugged in yet has a path too
		if strings.HasPrefix(name, "/dev/") {
			return nil
		}
		wrong = "want /dev/v4l/by-id/..."
	}
	if wrong == "" && (len(free) > 0 || p == Lines && len(b.Ours)+len(b.Taken) > 0) {
		wrong = b.lacks(p, name)
	}
	if wrong != "" {
		return errors.New(wrong)
	}
	return nil
}

// seeSetup begins what says nothing to who is asked by setup, or by a form that lists the names.
const seeSetup = "; roomgate setup shows "

// lacks says that a part is not there, or who has it.
func (b *Board) lacks(p Part, name string) string {
	for _, taken := range b.Taken {
		if who, ok := strings.CutPrefix(taken, name+" ("); ok && p == Lines {
			return name + " is " + strings.TrimSuffix(who, ")") + ": want another line"
		}
	}
	return "there is no free " + partNames[p] + " " + name + " here"
}

// notLines are what people call a line that the kernel calls otherwise: by the number
// of the chip's manual, with or without a word, and by the pin of the header.
var (
	notLines   = regexp.MustCompile(`^(?i:(?:gpio|bcm|io)[ _-]+|bcm|gpio0+)?(\d{1,3})$`)
	gpio       = regexp.MustCompile(`^(?i:gpio)(\d{1,3})$`)
	notLetters = regexp.MustCompile(`^(?i)[g6]p[il1][o0][ _-]?([\dol]{1,3})$`) // a letter typed for a digit, or the other way round
	headerPin  = regexp.MustCompile(`^(?i:(?:physical |header )?pin[ #]*(\d{1,2}))$`)
	// plainWord is a word of a language, of a product or for yes and no, which hardly a board calls a line.
	plainWord = regexp.MustCompile(`^(?:[a-z]+(?:[0-9]+[a-z]+)*|(?i:yes|no|true|false|on|off|none|null))$`)
)

// manyNames divide names, and are in none.
const manyNames = ", \t;"

// simulated is a channel of the demo's building, as aurora.light.
var simulated = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// several is more than one line, or one with blanks around it. Some boards have a line whose name has a blank within
// it, as P9_14 [EHRPWM1A].
var several = regexp.MustCompile(`[,;\t]|^ | $|^(?i:gpio)\d+ +(?i:gpio)\d`)

// header are the GPIO numbers of a Raspberry Pi by the pin of its header of 40
// (raspberrypi.com/documentation/computers/raspberry-pi.html, GPIO).
var header = map[string]int{"3": 2, "5": 3, "7": 4, "8": 14, "10": 15, "11": 17, "12": 18, "13": 27, "15": 22, "16": 23, "18": 24, "19": 10, "21": 9, "22": 25,
	"23": 11, "24": 8, "26": 7, "27": 0, "28": 1, "29": 5, "31": 6, "32": 12, "33": 13, "35": 19, "36": 16, "37": 26, "38": 20, "40": 21}

// mostOnHeader is the highest of those numbers.
const mostOnHeader = 27

// onHeader is what to write for a pin.
func onHeader(pin string) string {
	if number, ok := header[pin]; ok {
		return fmt.Sprintf("want the GPIO number beside it, as GPIO%d for pin %s of a Raspberry Pi", number, pin)
	}
	return "want the GPIO number beside another, as pin " + pin + " of a Raspberry Pi is power, ground or not there"
}

// Misnamed says why a name cannot be that of a GPIO line, empty: it can.
func Misnamed(line string) string {
	const how = "roomgate setup shows the names that the kernel has for the lines of a board"
	if m := notLines.FindStringSubmatch(line); m != nil {
		return fmt.Sprintf("is no name of a line: want GPIO%s if that is the GPIO number on a Raspberry Pi (not the pin of the header); %s", cmp.Or(strings.TrimLeft(m[1], "0"), "0"), how)
	}
	if m := notLetters.FindStringSubmatch(line); m != nil && !gpio.MatchString(line) {
		return "is no name of a line: want GPIO" + strings.NewReplacer("o", "0", "O", "0", "l", "1", "L", "1").Replace(m[1]) + ", with the letters G P I O and digits behind them; " + how
	}
	if m := headerPin.FindStringSubmatch(line); m != nil {
		return "is a pin of the header, which has no name in the kernel: " + onHeader(m[1]) + "; " + how
	}
	if several.MatchString(line) {
		return "is no name of a line: want one line, without a comma and without blanks around it; " + how
	}
	return ""
}

// Doubtful says why a name is hardly that of a GPIO line, empty: it may be.
func Doubtful(line string) string {
	m := gpio.FindStringSubmatch(line)
	switch {
	case plainWord.MatchString(line):
		return "want what the wire is on, as GPIO17, unless this board has a line of that name; leave the option out if nothing is wired to it; roomgate setup shows the names that the kernel has for the lines of a board"
	case m == nil:
		return ""
	}
	switch number, _ := strconv.Atoi(m[1]); {
	case line != "GPIO"+m[1]:
		return "a Raspberry Pi calls it GPIO" + m[1] + ", and capitals count; roomgate setup shows the names that the kernel has for the lines of a board"
	case number > mostOnHeader:
		return fmt.Sprintf("the header of a Raspberry Pi has GPIO2 to GPIO%d; roomgate setup shows the names that the kernel has for the lines of a board", mostOnHeader)
	}
	return ""
}

// MisnamedChannel says why a name cannot be that of a PWM channel, empty: it can.
func MisnamedChannel(channel string) string {
	if simulated.MatchString(channel) {
		return ""
	}
	chip, number, _ := strings.Cut(channel, "/")
	if _, err := strconv.ParseUint(number, 10, 16); err != nil || chip == "" || strings.ContainsAny(channel, manyNames) {
		return "is no name of a channel: want chip and number, as pwmchip0/0; roomgate setup shows those of this board"
	}
	return ""
}

// ShellWord is a name or a path as somebody types it in a command.
func ShellWord(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:") == "" && name != "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// CheckID refuses what cannot be an id or a user's name.
func CheckID(s string) error {
	if len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return errors.New("want 1 to 64 of a-z A-Z 0-9 . _ -")
	}
	return nil
}

// chipKey is the question whose answer is three options.
const chipKey = "chip"

// chip reads a bus, an address and a model, as i2c-1/0x48/tmp102.
func chip(s string) (a Answer, err error) {
	part := strings.Split(s, "/")
	if len(part) != 3 || part[0] == "" || part[2] == "" {
		return a, errors.New("want bus, address and chip, as i2c-1/0x48/tmp102")
	}
	address, err := strconv.ParseUint(part[1], 0, 7)
	if err != nil {
		return a, errors.New("want the address of the chip, as 0x48 in i2c-1/0x48/tmp102")
	}
	return Answer{part[0], uint16(address), part[2]}, nil
}

func chipPath(s string) error {
	_, err := chip(s)
	return err
}
