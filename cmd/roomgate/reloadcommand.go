package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func newReload() *cobra.Command {
	cmd := &cobra.Command{Use: "reload", Short: "let the changed configuration file take effect while the gateway runs",
		Long: `Lets the gateway on this machine read its configuration file again. Changed
spaces, devices and users take effect, whole or not at all; what takes a restart,
and every mistake, is refused with its key and its place, and ends with 5.

systemctl reload roomgate does the same, fails when it is refused, and leaves the
reason to systemctl status and the journal.`,
		Args: cobra.NoArgs, RunE: action(reloadGateway)}
	cmd.Flags().String("config", "", withVariable("configuration `FILE`, which only says where the data is", "config"))
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	return cmd
}

func reloadGateway(cmd *cobra.Command, _ []string) error {
	path, err := findSocket(dataFolder(cmd))
	if err != nil && text(cmd, "data") == "" {
		path, err = findSocket("") // the file may name another folder by now, which is refused
	}
	if err != nil {
		return err
	}
	if err := overSocket(path, reloadTimeout+5*time.Second).call(cmd.Context(), http.MethodPost, "/reload", nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), reloadDone)
	return err
}

// takeReload reloads and answers with the result.
func (g *gateway) takeReload(w http.ResponseWriter, r *http.Request) {
	answerDoor(w, struct{}{}, g.reload(r.Context()))
}
