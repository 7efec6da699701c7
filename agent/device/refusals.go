package device

import (
	"time"

	"golang.org/x/time/rate"

	"roomgate/agent/printable"
)

const (
	// refusalBurst is how many refusals of the cloud's messages are stored at
	// once, and refusalEvery how often one more is after that. Each costs pages of
	// the card, and whoever may send could else wear it out with messages that
	// cannot be carried out. It is one transaction, of 24 kB at most: two pages that each
	// transaction writes, those of the log for its receipt, and those by which its id is
	// refused again. So it is 75 MB a day at most.
	refusalBurst = 200
	refusalEvery = 30 * time.Second
	// refusedText bounds each text that is stored of a refused message, in bytes.
	refusedText = 80
)

func newRefusals() *rate.Limiter { return rate.NewLimiter(rate.Every(refusalEvery), refusalBurst) }

// refused is what is kept of a command that was refused: its id and who sent it.
// What it wanted is of no use any more, and may be as large as a message.
func refused(c Command) Command {
	c.Value = nil
	for _, text := range []*string{&c.Space, &c.DeviceType, &c.SubDevice, &c.Action, &c.By} {
		*text = printable.Cut(*text, refusedText, "")
	}
	return c
}
