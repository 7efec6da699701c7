package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	rules "roomgate/agent/rule"

	"roomgate/cmd/roomgate/show"
)

// ruleTrial is what the gateway says that a rule would do.
type ruleTrial struct {
	RuleID    string            `json:"rule_id"`
	SpaceID   string            `json:"meeting_space_id,omitempty"`
	At        time.Time         `json:"at"`
	Trigger   string            `json:"trigger"`
	Outcome   string            `json:"outcome"`
	Reason    string            `json:"reason,omitempty"`
	Condition rules.Explanation `json:"condition"`
	Actions   []struct {
		Action   string `json:"action"`
		SpaceID  string `json:"meeting_space_id,omitempty"`
		Accepted bool   `json:"accepted"`
		Reason   string `json:"reason,omitempty"`
	} `json:"actions"`
}

func testRule(cmd *cobra.Command, c *client, args []string) error {
	r, err := c.rule(cmd, args[0])
	if err != nil {
		return err
	}
	ask := map[string]any{}
	if len(args) == 2 {
		s, err := c.space(cmd, args[1])
		if err != nil {
			return err
		}
		ask["meeting_space_id"] = s.ID
	}
	if cmd.Flags().Changed("value") || cmd.Flags().Changed("previous") {
		ask["event"] = map[string]string{"value": text(cmd, "value"), "previous": text(cmd, "previous")}
	}
	var t ruleTrial
	if err := c.call(cmd.Context(), http.MethodPost, rulePath(r.ID)+"/test", ask, &t); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), t)
	}
	names, err := c.spaceNames(cmd)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), t.text(names))
	return err
}

// text is a trial as a person reads it.
func (t ruleTrial) text(names func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s, tried with: %s\n", outcomeText(rules.Outcome(t.Outcome), t.Reason), names(t.SpaceID), show.Plain(t.Trigger))
	b.WriteString("condition\n")
	explained(&b, t.Condition, 1)
	b.WriteString("actions\n")
	for _, a := range t.Actions {
		verdict := "accepted"
		if !a.Accepted {
			verdict = "refused "
		}
		line := "  " + verdict + "  " + show.Plain(a.Action)
		if a.Reason != "" {
			line += "  (" + show.Plain(a.Reason) + ")"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// explained writes an operand, with those inside it further in.
func explained(b *strings.Builder, x rules.Explanation, depth int) {
	verdict := "no   "
	if x.Held {
		verdict = "holds"
	}
	line := strings.Repeat("  ", depth) + verdict + "  " + show.Plain(x.Expression)
	for _, name := range slices.Sorted(maps.Keys(x.Values)) {
		value := "not known"
		if v := x.Values[name]; v != nil {
			value = fmt.Sprint(v)
		}
		line += "  [" + show.Plain(name+" is "+value) + "]"
	}
	if x.Error != "" {
		line += "  (" + show.Plain(x.Error) + ")"
	}
	b.WriteString(line + "\n")
	for _, o := range x.Operands {
		explained(b, o, depth+1)
	}
}

func outcomeText(o rules.Outcome, reason string) string {
	words := map[rules.Outcome]string{rules.Held: "would run", rules.NotHeld: "would not run", rules.Limited: "would be held back",
		rules.Suspended: "is suspended", "disabled": "is disabled"}[o]
	if reason != "" {
		words += " (" + show.Plain(reason) + ")"
	}
	return words
}

func showRuleLog(cmd *cobra.Command, c *client, args []string) error {
	r, err := c.rule(cmd, args[0])
	if err != nil {
		return err
	}
	var answer struct {
		Runs []rules.Run `json:"runs"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, rulePath(r.ID)+"/log", nil, &answer); err != nil {
		return err
	}
	names, err := c.spaceNames(cmd)
	if err != nil {
		return err
	}
	return output(cmd, answer.Runs, "TIME SPACE TRIGGER OUTCOME RESULT", func(row func(...string)) {
		for _, run := range answer.Runs {
			row(run.At.UTC().Format(time.RFC3339), names(run.SpaceID), run.Trigger, counted(run), results(run))
		}
	})
}

func counted(r rules.Run) string {
	if r.Count > 1 {
		return fmt.Sprintf("%s x%d", r.Outcome, r.Count)
	}
	return string(r.Outcome)
}

// results are the actions of a run and their results.
func results(r rules.Run) string {
	var all []string
	if r.Reason != "" {
		all = append(all, r.Reason)
	}
	for _, a := range r.Actions {
		one := a.Action + " " + a.State
		if a.Reason != "" {
			one += " (" + a.Reason + ")"
		}
		all = append(all, one)
	}
	return show.Dash(strings.Join(all, ", "))
}
