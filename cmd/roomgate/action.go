package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/device"
	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

// command is the body of an action.
type command struct {
	DeviceType string          `json:"device_type"`
	SubDevice  string          `json:"sub_device,omitempty"`
	Action     string          `json:"action"`
	Value      json.RawMessage `json:"value,omitempty"`
}

// receipt is the answer to a command.
type receipt struct {
	CommandID string `json:"command_id"`
	State     string `json:"state"`
	Code      string `json:"code,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Evidence  *struct {
		record
		ObservedAt time.Time      `json:"observed_at"`
		Source     string         `json:"source"`
		Details    map[string]any `json:"details,omitempty"`
	} `json:"evidence,omitempty"`
	ReceivedAt time.Time `json:"received_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// isReceipt says whether an answer is decoded into a receipt, which tells the
// state of a command under any status.
func isReceipt(out any) bool {
	switch out.(type) {
	case *receipt, *device.Receipt:
		return true
	}
	return false
}

func doAction(cmd *cobra.Command, c *client, args []string) error {
	args, err := addressed(args, 1)
	if err != nil {
		return err
	}
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	d, err := s.device(args[1])
	if err != nil {
		return err
	}
	o, err := newCommand(d, args[2:])
	if err != nil {
		return err
	}
	var got receipt
	if err := c.call(cmd.Context(), http.MethodPost, "/devices/"+s.ID+"/action", o, &got); err != nil {
		return err
	}
	if err := got.show(cmd); err != nil {
		return err
	}
	return got.verdict()
}

// newCommand reads [SUB-DEVICE] ACTION [VALUE | NAME=VALUE...].
func newCommand(d deviceRow, words []string) (command, error) {
	o := command{DeviceType: d.Type}
	if isSub(d.Type, words[0]) {
		o.SubDevice, words = drivers.Canonical(words[0]), words[1:]
	}
	if len(words) == 0 {
		return o, fail(exitUsage, "%s needs an action", o.SubDevice)
	}
	o.Action, words = words[0], words[1:]
	described, _, _ := d.Description.Action(o.SubDevice, o.Action) // the gateway refuses what it does not know
	value, err := commandValue(described, words)
	o.Value = value
	return o, err
}

// commandValue makes the JSON of a command's value from words: none, one bare
// value or names with values.
func commandValue(a drivers.Action, words []string) (json.RawMessage, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if name, _, named := strings.Cut(words[0], "="); !named || find(a, name) == nil {
		if len(words) > 1 {
			return nil, fail(exitUsage, "%s takes one value or NAME=VALUE pairs, not %s", a.Name, show.Count(len(words), "word"))
		}
		var first *drivers.Param
		if len(a.Params) > 0 {
			first = &a.Params[0]
		}
		return scalar(first, words[0]), nil
	}
	named := map[string]json.RawMessage{}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fail(exitUsage, "%q is no NAME=VALUE pair", w)
		}
		named[name] = scalar(find(a, name), value)
	}
	return json.Marshal(named)
}

func find(a drivers.Action, name string) *drivers.Param {
	for i, p := range a.Params {
		if p.Name == name {
			return &a.Params[i]
		}
	}
	return nil
}

// scalar is a word as JSON: as it stands where a number or an object is
// expected, quoted where a text is.
func scalar(p *drivers.Param, word string) json.RawMessage {
	isText := p != nil && p.Kind != drivers.KindNumber && p.Kind != drivers.KindInteger
	if !isText && json.Valid([]byte(word)) {
		return json.RawMessage(word)
	}
	quoted, _ := json.Marshal(word) // a string always encodes
	return quoted
}

// show prints the receipt.
func (r receipt) show(cmd *cobra.Command) error {
	return output(cmd, r, "STATE DEVICE VALUE STATUS SOURCE", func(row func(...string)) {
		if e := r.Evidence; e != nil {
			row(r.State, e.Device, show.Dash(e.Value), e.Status, e.Source)
			return
		}
		row(r.State, "-", "-", "-", "-")
	})
}

// tell says what was done, or shows the receipt as JSON, and turns it into the exit code.
func (r receipt) tell(cmd *cobra.Command, done string, args ...any) error {
	if wantsJSON(cmd) {
		if err := show.JSON(cmd.OutOrStdout(), r); err != nil {
			return err
		}
	} else if r.State == "done" {
		fmt.Fprintf(cmd.OutOrStdout(), done+"\n", args...)
	}
	return r.verdict()
}

// verdict turns the state into the exit code.
func (r receipt) verdict() error {
	reason := r.Reason
	if reason == "" {
		reason = fmt.Sprintf("the command %s is %s", r.CommandID, r.State)
	}
	switch r.State {
	case "done", "accepted":
		return nil
	case "rejected", "expired":
		return fail(exitRefused, "%s", reason)
	}
	return fail(exitFailed, "%s", reason)
}
