package drivertest

import (
	"time"

	"roomgate/drivers"
)

// disorder: a report that was overtaken comes last, and the device says the same
// again after a second. No command is done by a value that it does not lead to,
// and each is done within its time.
func disorder(b *bench) {
	if !b.c.Reports {
		b.Skip("it is read, and reports nothing by itself")
	}
	b.start()
	b.control("disorder")
	d := b.driver.Describe()
	for _, sub := range subs(d) {
		for _, a := range sequence(d, sub) {
			for _, value := range values(a) {
				time.Sleep(3 * time.Second) // the disorder of the last command is over
				b.overtaken(sub, a, value)
			}
		}
	}
}

// overtaken carries one command out.
func (b *bench) overtaken(sub string, a drivers.Action, value string) {
	b.Helper()
	began := time.Now()
	c, s, err := b.do(sub, a.Name, value)
	if err != nil {
		b.Errorf("%s %s %s: %v", sub, a.Name, value, err)
		return
	}
	if err := drivers.Unproven(b.c.Kind.Type, c, s); err != nil || s.ObservedAt.Before(began) {
		b.Errorf("%s %s %s is done by %q of %s: %v", sub, a.Name, value, s.Value, s.ObservedAt.Sub(began), err)
	}
	time.Sleep(2 * time.Second)
	statuses, err := b.poll()
	if err := failed(statuses, err); err != nil {
		b.Errorf("%s %s %s: the poll after it fails: %v", sub, a.Name, value, err)
	}
	if after := of(statuses, sub); a.Name != drivers.ActBeep && after.Value != s.Value {
		b.Errorf("%s %s %s: it was done by %q, and then it is %q", sub, a.Name, value, s.Value, after.Value)
	}
}
