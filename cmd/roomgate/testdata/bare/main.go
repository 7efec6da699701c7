// Bare is the least process that has the gateway's libraries live: a database,
// a broker, a client of it, and a listener. The benchmarks hold the gateway
// against it.
package main

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
	"github.com/spf13/cobra"
	"go.etcd.io/bbolt"
)

func main() {
	c := &cobra.Command{Args: cobra.ExactArgs(3), RunE: func(_ *cobra.Command, args []string) error {
		return run(args[0], args[1], args[2])
	}}
	if c.Execute() != nil {
		os.Exit(1)
	}
}

// everybody may do everything.
type everybody struct{ mqtt.HookBase }

func (*everybody) Provides(b byte) bool {
	return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck
}
func (*everybody) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }
func (*everybody) OnACLCheck(*mqtt.Client, string, bool) bool              { return true }

func run(dir, web, broker string) error {
	db, err := bbolt.Open(filepath.Join(dir, "bare.db"), 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	server := mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := server.AddHook(new(everybody), nil); err != nil {
		return err
	}
	if err := server.AddListener(listeners.NewTCP(listeners.Config{ID: "tcp", Address: broker})); err != nil {
		return err
	}
	if err := server.Serve(); err != nil {
		return err
	}
	client := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + broker))
	if token := client.Connect(); token.Wait() && token.Error() != nil {
		return token.Error()
	}
	http.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	return http.ListenAndServe(web, nil)
}
