// Package cell shares out the gateways of a fleet over cells, and writes what the brokers
// have to know of them: who may log in, and who may read and write what.
//
// # Why
//
// A broker of many gateways ends at limits of one account or one process: so a cell is an
// account at NATS and a broker at Mosquitto, of some hundred gateways and one backend. A
// gateway never changes its cell. Its user name is its id, and its password is made here
// and has 130 random bits: so the brokers' hashes need no rounds that cost a second for each
// gateway of a fleet that returns.
package cell

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"golang.org/x/crypto/bcrypt"

	"roomgate/cloud"
)

// DefaultSize is how many gateways a cell has.
const DefaultSize = 300

// DefaultDisk is what may wait for a cell at NATS: hours of a busy one.
const DefaultDisk = "1G"

// MaxSize is how many gateways a cell can have: the streams of NATS end at a thousand
// subscriptions, and the backend needs some.
const MaxSize = 990

var disk = regexp.MustCompile(`^[1-9][0-9]{0,5}[MGT]$`)

// ValidDisk says whether NATS reads it as bytes.
func ValidDisk(bytes string) bool { return disk.MatchString(bytes) }

// What can be wrong with a gateway.
var (
	ErrGateway = errors.New("no gateway's id: want 1 to 64 letters, digits, dots, dashes and underscores")
	ErrClient  = errors.New("has the session of another gateway at the broker: a dot counts there as two dashes")
	ErrUnknown = errors.New("is in no cell")
)

// Login is who may log in.
type Login struct {
	User string `json:"user"` // a gateway's id, or that of a cell's backend
	Cell int    `json:"cell"` // from 1
	// The hashes of the password, as each broker wants them.
	Bcrypt string `json:"bcrypt"` // NATS
	SHA512 string `json:"sha512"` // Mosquitto
}

// Logins are the gateways that belong to the cloud, and the backends of their cells.
type Logins struct {
	Size int    `json:"size"` // of a cell, in gateways; 0: DefaultSize
	Disk string `json:"disk"` // what may wait for a cell at NATS, as "500M"; empty: DefaultDisk
	// Certificates says that NATS lets in by certificate: the users there are as those name them, without passwords.
	Certificates bool    `json:"certificates,omitempty"`
	Gateways     []Login `json:"gateways"`
	Backends     []Login `json:"backends"` // one of each cell, in their order
}

// BackendUser is the name of a cell's backend, which no gateway can have.
func BackendUser(cell int) string { return fmt.Sprint("backend@", cell) }

// Admit gives a gateway a place and a new password; one that has a place keeps it. made are
// the passwords by user: the gateway's, and the backend's of a cell that is new.
func (c *Logins) Admit(gateway string) (made map[string]string, err error) {
	if !cloud.ValidGateway(gateway) {
		return nil, fmt.Errorf("%q is %w", gateway, ErrGateway)
	}
	made = map[string]string{}
	i := c.find(gateway)
	if i < 0 {
		if k := slices.IndexFunc(c.Gateways, func(l Login) bool { return cloud.ClientID(l.User) == cloud.ClientID(gateway) }); k >= 0 {
			return nil, fmt.Errorf("%s %w, %s", gateway, ErrClient, c.Gateways[k].User)
		}
		place := c.place()
		if place > len(c.Backends) {
			user := BackendUser(place)
			l, err := login(user, place, made)
			if err != nil {
				return nil, err
			}
			c.Backends = append(c.Backends, l)
		}
		c.Gateways = append(c.Gateways, Login{User: gateway, Cell: place})
		i = len(c.Gateways) - 1
	}
	c.Gateways[i], err = login(gateway, c.Gateways[i].Cell, made)
	return made, err
}

// Expel takes a gateway's login away.
func (c *Logins) Expel(gateway string) error {
	i := c.find(gateway)
	if i < 0 {
		return fmt.Errorf("%s %w", gateway, ErrUnknown)
	}
	c.Gateways = slices.Delete(c.Gateways, i, i+1)
	return nil
}

func (c *Logins) find(gateway string) int {
	return slices.IndexFunc(c.Gateways, func(l Login) bool { return l.User == gateway })
}

// place is the first cell that is not full.
func (c *Logins) place() int {
	if c.Size <= 0 {
		c.Size = DefaultSize
	}
	members := map[int]int{}
	for _, g := range c.Gateways {
		members[g.Cell]++
	}
	for n := 1; ; n++ {
		if members[n] < c.Size {
			return n
		}
	}
}

// login makes a password and its hashes.
func login(user string, cell int, made map[string]string) (l Login, err error) {
	password := rand.Text()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return l, err
	}
	salted, err := mosquittoHash(password)
	if err != nil {
		return l, err
	}
	made[user] = password
	return Login{User: user, Cell: cell, Bcrypt: string(hash), SHA512: salted}, nil
}

// mosquittoHash is a line's end as mosquitto_passwd writes it.
func mosquittoHash(password string) (string, error) {
	const rounds = 101
	salt := make([]byte, 12)
	_, _ = rand.Read(salt) // never fails
	key, err := pbkdf2.Key(sha512.New, password, salt, rounds, sha512.Size)
	if err != nil {
		return "", err
	}
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("$7$%d$%s$%s", rounds, text(salt), text(key)), nil
}
