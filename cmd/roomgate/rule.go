package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	rules "roomgate/agent/rule"

	"roomgate/cmd/roomgate/show"
)

// maxRuleFile bounds a file with a rule, in bytes.
const maxRuleFile = 64 << 10

const ruleCreateHelp = `Makes a rule of a file in YAML or JSON, "-" for standard input. It has the
fields of POST /rules; a meeting space may be given by name.

  name: light when somebody comes in after dark
  meeting_space_id: aurora           # left out: every space
  trigger: {event: occupancyChanged} # or {time: "07:30"}, {time: "0 22 * * 1-5"},
                                     # {booking: booking.end, before: 5m}
  condition: event.value == "occupied" and local.hour >= 17
  actions:
    - {device_type: light, action: on}
    - {message: welcome}             # on the room's display
    - {to: {organizer: true}, message: welcome} # or email, user_id, topic
    - {event: arrived}               # raised as rule.arrived
  limits: {max_per_minute: 2, cooldown: 5m}

A rule that opens a door says allow_door: true.`

func newRule() *cobra.Command {
	test := &cobra.Command{Use: "test RULE [SPACE]", Short: "explain what a rule would do now, without acting",
		Long: "Tells which part of the condition holds, by which values, and whether each action\nwould be accepted. The rule is tried with the last event that would have\ntriggered it, or with the one that the flags make up.",
		Args: cobra.RangeArgs(1, 2), RunE: asking(testRule)}
	test.Flags().String("value", "", "the `VALUE` of an event that is made up")
	test.Flags().String("previous", "", "its previous `VALUE`")
	all := []*cobra.Command{
		{Use: "list", Short: "list the rules", Args: cobra.NoArgs, RunE: asking(listRules)},
		{Use: "show RULE", Short: "show a rule", Args: cobra.ExactArgs(1), RunE: asking(showRule)},
		{Use: "create FILE", Short: "make a rule", Long: ruleCreateHelp, Args: cobra.ExactArgs(1), RunE: asking(createRule)},
		{Use: "delete RULE", Short: "delete a rule with its log", Args: cobra.ExactArgs(1), RunE: asking(deleteRule)},
		{Use: "enable RULE", Short: "enable a rule, also a suspended one", Args: cobra.ExactArgs(1), RunE: asking(enableRule)},
		{Use: "disable RULE", Short: "disable a rule", Args: cobra.ExactArgs(1), RunE: asking(disableRule)},
		test,
		{Use: "log RULE", Short: "show the last runs of a rule", Args: cobra.ExactArgs(1), RunE: asking(showRuleLog)},
	}
	for _, cmd := range all {
		clientFlags(cmd)
	}
	return group("rule", "what the building does by itself; a rule is named by id or by name", all...)
}

func rulePath(id string) string { return "/rules/" + url.PathEscape(id) }

func (c *client) rules(cmd *cobra.Command) ([]rules.Rule, error) {
	var answer struct {
		Rules []rules.Rule `json:"rules"`
	}
	err := c.call(cmd.Context(), http.MethodGet, "/rules", nil, &answer)
	return answer.Rules, err
}

// rule finds a rule by id or, ignoring case, by name.
func (c *client) rule(cmd *cobra.Command, nameOrID string) (rules.Rule, error) {
	all, err := c.rules(cmd)
	if err != nil {
		return rules.Rule{}, err
	}
	found := slices.DeleteFunc(all, func(r rules.Rule) bool { return r.ID != nameOrID && !strings.EqualFold(r.Name, nameOrID) })
	switch len(found) {
	case 0:
		return rules.Rule{}, fail(exitRefused, "there is no rule %q here: see roomgate rule list", nameOrID)
	case 1:
		return found[0], nil
	}
	return rules.Rule{}, fail(exitRefused, "%d rules are called %q: say which one by its id", len(found), nameOrID)
}

func listRules(cmd *cobra.Command, c *client, _ []string) error {
	all, err := c.rules(cmd)
	if err != nil {
		return err
	}
	names, err := c.spaceNames(cmd)
	if err != nil {
		return err
	}
	return outputSome(cmd, all, len(all), "none yet: make one with roomgate rule create FILE, see roomgate rule create --help", "ID NAME SPACE TRIGGER STATE", func(row func(...string)) {
		for _, r := range all {
			row(r.ID, r.Name, names(r.SpaceID), triggerText(r.Trigger), ruleState(r))
		}
	})
}

// spaceNames finds the name of a space by its id.
func (c *client) spaceNames(cmd *cobra.Command) (func(id string) string, error) {
	all, err := c.spaces(cmd)
	return func(id string) string {
		for _, s := range all {
			if s.ID == id {
				return s.Name
			}
		}
		return show.Dash(id)
	}, err
}

func ruleState(r rules.Rule) string {
	switch {
	case r.Suspended != nil:
		return "suspended"
	case !r.Enabled:
		return "disabled"
	}
	return "enabled"
}

func triggerText(t rules.Trigger) string {
	switch {
	case t.Time != "":
		return "time " + t.Time
	case t.Before != 0:
		return t.Before.String() + " before " + t.Booking
	case t.After != 0:
		return t.After.String() + " after " + t.Booking
	}
	return strings.Join(slices.DeleteFunc([]string{t.Event, t.Booking, t.DeviceType, t.SubDevice}, func(s string) bool { return s == "" }), " ")
}

func showRule(cmd *cobra.Command, c *client, args []string) error {
	r, err := c.rule(cmd, args[0])
	if err != nil || wantsJSON(cmd) {
		return printed(cmd, r, err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var fields yaml.Node // JSON is YAML, and the order stays
	if err := yaml.Unmarshal(data, &fields); err != nil {
		return err
	}
	loosen(&fields)
	out, err := yaml.Marshal(&fields)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

// printed is v as JSON, unless something went wrong.
func printed(cmd *cobra.Command, v any, err error) error {
	if err != nil {
		return err
	}
	return show.JSON(cmd.OutOrStdout(), v)
}

// loosen writes a document in lines instead of braces.
func loosen(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		loosen(inner)
	}
}

func createRule(cmd *cobra.Command, c *client, args []string) error {
	body, err := readRule(cmd, c, args[0])
	if err != nil {
		return err
	}
	var made rules.Rule
	if err := c.call(cmd.Context(), http.MethodPost, "/rules", body, &made); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), made)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "rule %s is made: %s\n", made.ID, show.Plain(made.Name))
	return err
}

// readRule reads the file of a rule. The gateway judges it.
func readRule(cmd *cobra.Command, c *client, path string) (map[string]any, error) {
	data, err := readGiven(cmd, path, maxRuleFile)
	if err != nil {
		return nil, fail(exitUsage, "the rule cannot be read: %w", err)
	}
	var body map[string]any
	if err := yaml.Unmarshal(data, &body); err != nil || body == nil {
		return nil, fail(exitUsage, "%s is no rule in YAML or JSON: %v", path, err)
	}
	return body, c.nameSpaces(cmd, body)
}

// nameSpaces puts the ids of meeting spaces where their names are.
func (c *client) nameSpaces(cmd *cobra.Command, body map[string]any) error {
	holders := []any{body}
	if actions, ok := body["actions"].([]any); ok {
		holders = append(holders, actions...)
	}
	for _, h := range holders {
		fields, _ := h.(map[string]any)
		name, ok := fields["meeting_space_id"].(string)
		if !ok || name == "" {
			continue
		}
		s, err := c.space(cmd, name)
		if err != nil {
			return err
		}
		fields["meeting_space_id"] = s.ID
	}
	return nil
}

func deleteRule(cmd *cobra.Command, c *client, args []string) error {
	r, err := c.rule(cmd, args[0])
	if err != nil {
		return err
	}
	if err := c.call(cmd.Context(), http.MethodDelete, rulePath(r.ID), nil, nil); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"id": r.ID, "deleted": true})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "rule %s is deleted\n", r.ID)
	return err
}

func enableRule(cmd *cobra.Command, c *client, args []string) error {
	return switchRule(cmd, c, args[0], true)
}

func disableRule(cmd *cobra.Command, c *client, args []string) error {
	return switchRule(cmd, c, args[0], false)
}

func switchRule(cmd *cobra.Command, c *client, nameOrID string, on bool) error {
	r, err := c.rule(cmd, nameOrID)
	if err != nil {
		return err
	}
	var changed rules.Rule
	if err := c.call(cmd.Context(), http.MethodPatch, rulePath(r.ID), map[string]bool{"enabled": on}, &changed); err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), changed)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "rule %s is %s\n", changed.ID, ruleState(changed))
	return err
}
