package host

import "roomgate/drivers"

// Pulses takes a line for the beginnings of short lows. Asked for both edges,
// the kernel reads the level some time after the interrupt to know which one
// it was, and the pulse is over by then; asked for one, it need not. A chip
// without interrupts is refused, because pulses cannot be polled.
func (b *Board) Pulses(name string, pull drivers.Pull) (drivers.Input, error) {
	l, err := b.line(name, flagInput|biases[pull]|flagFalling, false)
	if noEdges(err) {
		err = explain("line "+name+": edges", drivers.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	return input{l, true}, nil
}
