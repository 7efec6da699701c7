package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/cmd/roomgate/show"
)

// simCommand is what the demo's control socket takes at POST /sim.
type simCommand struct {
	Space   string   `json:"space"`
	Subject string   `json:"subject"`
	Args    []string `json:"args"`
}

type simAnswer struct {
	Message string `json:"message"`
}

func newSim() *cobra.Command {
	cmd := &cobra.Command{Use: "sim [SPACE [DEVICE [WHAT...]]]", Short: "move the simulated building of the demo",
		Long: "Moves the simulated building of the demo: what people, weather and wear do to a\n" +
			"real one. Without WHAT it says how the device is; without DEVICE, what can be moved there.\n\n" +
			"\"sim cloud cut\" cuts the line to the stand-in cloud until \"sim cloud mend\"; \"sim clock 14:00\",\n" +
			"\"sim clock +10m\" and \"sim clock real\" move the time by which the rooms keep their schedules. A time\n" +
			"that is past today is that of tomorrow: time only goes on. \"sim clock jump 2036-01-01T10:00\" makes\n" +
			"the clock wrong until \"sim clock real\": the building notices, and does not believe it.",
		Example: "  roomgate sim aurora temperature 31.5\n  roomgate sim aurora temperature null\n  roomgate sim aurora o3-sensor unplug\n  roomgate sim aurora lock jam\n  roomgate sim clock 09:50",
		Args:    cobra.ArbitraryArgs, RunE: asking(moveSim)}
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	outputFlag(cmd)
	cmd.AddCommand(newLetters(), newReceiver())
	return cmd
}

func moveSim(cmd *cobra.Command, c *client, args []string) error {
	var what simCommand
	switch len(args) {
	case 0:
	case 1:
		what.Space = args[0]
	default:
		what = simCommand{args[0], args[1], args[2:]}
	}
	var answer simAnswer
	if err := c.call(cmd.Context(), http.MethodPost, "/sim", what, &answer); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), answer)
	}
	for line := range strings.Lines(answer.Message) {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), show.Plain(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// onlyDemo answers at a door of the demo for a gateway of real hardware.
func onlyDemo(what string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answerDoor(w, nil, fmt.Errorf("this is no demo, and only the demo has %s: see roomgate demo --help", what))
	})
}
