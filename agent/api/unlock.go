package api

import (
	"net/http"
	"time"

	"roomgate/agent/strict"
	"roomgate/agent/unlock"
	"roomgate/drivers"
)

// unlockCodeRecord is a code for the keypad of a door. Its digits are in the
// answer to who had them made, and nowhere else.
type unlockCodeRecord struct {
	ID        string `json:"id"`
	SpaceID   string `json:"meeting_space_id"`
	Name      string `json:"name"`
	Code      string `json:"code,omitempty"`
	Digits    int    `json:"digits"`
	BookingID string `json:"booking_id,omitempty"`
	From      moment `json:"valid_from"`  // null: from ever
	Until     moment `json:"valid_until"` // null: for ever
	Opens     bool   `json:"opens"`       // the door, now
	Reason    string `json:"reason,omitempty"`
	Created   moment `json:"created_at"`
	Updated   moment `json:"updated_at"`
	LastUsed  moment `json:"last_used_at"` // null: never
}

func (s *Server) unlockCode(c unlock.Code, code drivers.Secret) unlockCodeRecord {
	why := s.agent.Unlock.WhyNot(c)
	return unlockCodeRecord{c.ID, c.SpaceID, c.Name, string(code), c.Digits, c.BookingID, moment(c.From), moment(c.Until),
		why == "", why, moment(c.Created), moment(c.Updated), moment(c.LastUsed)}
}

// setUnlockCode makes a code, or replaces the one of that id or name.
func setUnlockCode(s *Server, c *call) error {
	var set unlock.Request
	var code string
	err := c.decode(strict.Optional("id", &set.ID), strict.Required("name", &set.Name), strict.Optional("code", &code),
		strict.Optional("valid_from", &set.From), strict.Optional("valid_until", &set.Until), strict.Optional("booking_id", &set.BookingID))
	if err != nil {
		return err
	}
	set.Code = drivers.Secret(code)
	one, made, created, err := s.agent.Unlock.Set(c.r.Context(), c.params[0], set, c.who.Name)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.wrapped(status, envelope, s.unlockCode(one, made))
}

// unlockCodes lists the codes of a space without their digits, and says
// whether its keypad takes any.
func unlockCodes(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	all, err := s.agent.Unlock.List(c.params[0])
	if err != nil {
		return err
	}
	wait, err := s.agent.Unlock.LockedOut(c.params[0])
	if err != nil {
		return err
	}
	codes := records(all, func(one unlock.Code) unlockCodeRecord { return s.unlockCode(one, "") })
	locked := int64((wait + time.Second - 1) / time.Second)
	if c.v2 {
		p, err := paged(q, codes, codeID, itself)
		if err != nil {
			return err
		}
		return c.json(http.StatusOK, codePage{p, locked})
	}
	return c.response(struct {
		Codes      []unlockCodeRecord `json:"unlock_codes"`
		LockedOutS int64              `json:"locked_out_s"` // 0: the keypad takes codes
	}{codes, locked})
}

// liftLockout lets a keypad take codes again after too many wrong ones.
func liftLockout(s *Server, c *call) error {
	if err := s.agent.Unlock.LiftLockout(c.r.Context(), c.params[0], c.who.Name); err != nil {
		return err
	}
	return c.none()
}

// deleteUnlockCode ends a code at once.
func deleteUnlockCode(s *Server, c *call) error {
	if err := s.agent.Unlock.Delete(c.r.Context(), c.params[0], c.params[1], c.who.Name); err != nil {
		return err
	}
	return c.none()
}
