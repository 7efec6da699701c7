package main

import (
	"cmp"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
	"roomgate/agent/standin"
)

// demoSender is whom the letters of a demo are from.
const demoSender = "Roomgate demo <rooms@demo.example>"

func newLetters() *cobra.Command {
	cmd := &cobra.Command{Use: "letters", Short: "show the letters of the demo, and the one-time passwords in them", Args: cobra.NoArgs, RunE: asking(showLetters),
		Long: "Shows the letters that the demo has written, the oldest first. They go to a mailbox inside the\n" +
			"demo, by SMTP as to any relay. CODE is the one-time password in a letter; --output json\nhas the whole text."}
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	outputFlag(cmd)
	return cmd
}

func showLetters(cmd *cobra.Command, c *client, _ []string) error {
	letters := []standin.Letter{}
	if err := c.call(cmd.Context(), http.MethodGet, "/letters", nil, &letters); err != nil {
		return err
	}
	return outputSome(cmd, letters, len(letters), "none yet: one comes within a second of roomgate user sign-in EMAIL; roomgate user list has the addresses", "AT TO SUBJECT CODE", func(row func(...string)) {
		for _, l := range letters {
			row(l.At.Format(time.RFC3339), l.To, l.Subject, cmp.Or(l.Code, "-"))
		}
	})
}

// openMailbox opens the stand-in for a mail relay, unless the configuration names
// one. The gateway sends to it as to any other.
func openMailbox(g *gateway) error {
	if g.config.SMTP.URL != "" {
		return nil
	}
	box, err := standin.OpenMailbox(g.demo.outside)
	if err != nil {
		return err
	}
	g.config.SMTP = config.SMTP{URL: box.URL(), From: demoSender}
	g.demo.mailbox = box
	g.brokers = append(g.brokers, loop{"mailbox", box.Run})
	g.closers = append(g.closers, box.Close)
	return nil
}

// lettersDoor shows the letters of a demo at the control socket.
func lettersDoor(g *gateway) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if g.demo.mailbox == nil {
			answerDoor(w, nil, fail(exitRefused, "the letters of this demo go to %s, as smtp.url of its configuration says: read them there", g.config.SMTP.URL))
			return
		}
		letters := g.demo.mailbox.Letters()
		if letters == nil {
			letters = []standin.Letter{}
		}
		answerDoor(w, letters, nil)
	})
}
