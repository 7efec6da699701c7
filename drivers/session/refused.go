package session

import (
	"errors"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// Refused says whether a broker answered and does not take the login (CONNACK
// 4 and 5, MQTT 3.1.1, 3.2.2.3).
func Refused(cause error) bool {
	return errors.Is(cause, packets.ErrorRefusedBadUsernameOrPassword) || errors.Is(cause, packets.ErrorRefusedNotAuthorised)
}
