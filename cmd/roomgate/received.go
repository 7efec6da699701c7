package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

// maxReceived is how many notifications the stand-in receiver keeps; then the oldest
// goes.
const maxReceived = 20

// reception is a notification as the stand-in receiver got it.
type reception struct {
	At      time.Time   `json:"at"`
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Header  http.Header `json:"headers"`
	Body    string      `json:"body"` // at most 64 KiB of it
	Answers int         `json:"answers"`
}

// received are those that a demo keeps.
type received struct {
	mu  sync.Mutex
	all []reception
}

func (k *received) keep(r reception) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, r)
	k.all = k.all[max(0, len(k.all)-maxReceived):]
}

// list are those that are kept, the oldest first.
func (k *received) list() []reception {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]reception{}, k.all...)
}

// headerLines are headers as they stand in a request, in the order of their names.
func headerLines(h http.Header) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			lines = append(lines, name+": "+value)
		}
	}
	return lines
}

func newReceiver() *cobra.Command {
	cmd := &cobra.Command{Use: "receiver", Short: "show what receiver.demo got: headers and body", Args: cobra.NoArgs, RunE: asking(showReceived),
		Long: "Shows the last notifications that webhooks have brought to https://receiver.demo/, each with\nits headers, including the signatures, and the body exactly as it was signed."}
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	outputFlag(cmd)
	return cmd
}

func showReceived(cmd *cobra.Command, c *client, _ []string) error {
	all := []reception{}
	if err := c.call(cmd.Context(), http.MethodGet, "/received", nil, &all); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), "nothing yet: roomgate webhook create https://receiver.demo/rooms --event booking.created brings it each booking that is made")
		return err
	}
	for _, r := range all {
		lines := append([]string{r.Method + " " + r.URL}, headerLines(r.Header)...)
		lines = append(lines, "", r.Body, "", fmt.Sprintf("answered %d at %s", r.Answers, r.At.Format(time.RFC3339)), "")
		for i := range lines {
			lines[i] = show.Plain(lines[i]) + "\n"
		}
		if _, err := fmt.Fprint(cmd.OutOrStdout(), strings.Join(lines, "")); err != nil {
			return err
		}
	}
	return nil
}

// receivedDoor shows what the receiver of a demo got at the control socket.
func (g *gateway) receivedDoor() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answerDoor(w, g.demo.received.list(), nil) })
}
