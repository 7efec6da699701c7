package setup

import (
	"go.yaml.in/yaml/v4"

	"roomgate/agent/config"
	"roomgate/agent/roombroker"
)

// listed writes the topics of those users of the room broker that have no lists,
// where it is certain which they are. A file that is not written line by line stays
// as it is; check-config says what to write there.
func (p *Plan) listed(o Options) error {
	access := roombroker.Of(p.Config)
	users := list()
	for _, u := range p.Config.Broker.Users {
		if !access.Certain(u.Name) || u.Publish != nil && u.Subscribe != nil {
			continue
		}
		item, t := mapping(), access.Topics(u.Name)
		put(item, "name", scalar(u.Name))
		if u.Publish == nil {
			put(item, "publish", texts(t.Publish))
		}
		if u.Subscribe == nil {
			put(item, "subscribe", texts(t.Subscribe))
		}
		users.Content = append(users.Content, item)
	}
	if len(users.Content) == 0 {
		return nil
	}
	over := mapping()
	put(within(over, "broker"), "users", users)
	lists, err := printed(over)
	if err != nil {
		return err
	}
	after, err := Lay(p.After, []byte(lists))
	if err != nil {
		return nil
	}
	c, err := config.Parse(o.File, after, o.Kinds)
	if err != nil {
		return err
	}
	p.After, p.Config = after, c
	return nil
}

// texts is a list of texts on one line.
func texts(all []string) *yaml.Node {
	l := list()
	l.Style |= yaml.FlowStyle
	for _, s := range all {
		l.Content = append(l.Content, scalar(s))
	}
	return l
}
