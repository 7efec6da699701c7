package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"roomgate/drivers/sim"
)

// simOrder is what the demo's control socket takes at POST /sim.
type simOrder struct {
	Space   string   `json:"space"`
	Subject string   `json:"subject"`
	Args    []string `json:"args"`
}

type simAnswer struct {
	Message string `json:"message"`
}

func newSim() *cobra.Command {
	cmd := &cobra.Command{Use: "sim SPACE DEVICE [WHAT...]", Short: "move the simulated building of the demo",
		Long: "Moves the simulated building of the demo: what people, weather and wear do to a\n" +
			"real one. Without WHAT it says how the device is; with a wrong one, what it knows.",
		Example: "  roomgate sim aurora temperature 31.5\n  roomgate sim aurora o3-sensor unplug\n  roomgate sim aurora lock jam",
		Args:    cobra.MinimumNArgs(2), RunE: asking(moveSim)}
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	outputFlag(cmd)
	return cmd
}

func moveSim(cmd *cobra.Command, c *client, args []string) error {
	var answer simAnswer
	if err := c.call(cmd.Context(), http.MethodPost, "/sim", simOrder{args[0], args[1], args[2:]}, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), answer)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), plain(answer.Message))
	return err
}

// simDoor lets the control socket move the world.
func simDoor(w *sim.World) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		var o simOrder
		err := json.NewDecoder(io.LimitReader(r.Body, 4<<10)).Decode(&o)
		var message string
		if err == nil {
			message, err = w.Control(o.Space, o.Subject, o.Args...)
		}
		if err != nil {
			answer.Header().Set("Content-Type", "application/problem+json")
			answer.WriteHeader(http.StatusUnprocessableEntity)
			_ = json.NewEncoder(answer).Encode(map[string]string{"detail": err.Error()})
			return
		}
		answer.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(answer).Encode(simAnswer{message})
	})
}
