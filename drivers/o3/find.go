package o3

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// The login with which a hub leaves the factory. Everybody knows it.
const (
	FactoryUser     = "user"
	FactoryPassword = "admin"
)

// Found is a broker that was looked at.
type Found struct {
	Address string // host:port
	// Hub says that it reported as an O3 does. It was asked with the factory
	// password, which it therefore still has.
	Hub bool
	// Refused says that it is a broker that does not take the factory
	// password: perhaps a hub whose password was changed.
	Refused bool
}

// reportWait is how long a hub may take to its first report.
const reportWait = 4 * time.Second

// dialWait is how long an address may take to answer in its own network.
const dialWait = time.Second

// askedAtOnce bounds the addresses that are called at the same time.
const askedAtOnce = 32

// Find calls every address and logs in where a broker answers, with the
// factory password and no other. The maker documents no announcement of a hub
// by itself, so there is no other way to find one. What is neither a hub nor
// refuses is not returned.
func Find(ctx context.Context, b drivers.Buses, addresses []string) (all []Found) {
	var mu sync.Mutex
	var asking sync.WaitGroup
	free := make(chan struct{}, askedAtOnce)
	for _, address := range addresses {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		asking.Go(func() {
			defer func() { <-free }()
			if f := ask(ctx, b, address); f.Hub || f.Refused {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, f)
			}
		})
	}
	asking.Wait()
	slices.SortFunc(all, func(a, b Found) int { return strings.Compare(a.Address, b.Address) })
	return all
}

func ask(ctx context.Context, b drivers.Buses, address string) Found {
	f := Found{Address: address}
	if !answers(ctx, b, address) {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, reportWait)
	defer cancel()
	heard := make(chan struct{}, 1)
	s := session.New(session.Options{
		Peer: "hub", Address: address, ClientID: session.NewID(), Username: FactoryUser,
		Password: func() (string, error) { return FactoryPassword, nil },
		Filters:  []string{reports + "#"}, WriteTimeout: reportWait,
		Up: func() {},
		Receive: func(topic string, payload []byte, _ bool) {
			if _, err := parseReport(payload); err == nil && strings.HasPrefix(topic, reports) {
				select {
				case heard <- struct{}{}:
				default:
				}
			}
		},
		Tend: func(ctx context.Context, _ func(context.Context) error) error {
			select {
			case <-heard:
				f.Hub = true
			case <-ctx.Done():
			}
			cancel()
			return nil
		},
		Down: func(cause error) bool {
			f.Refused = f.Refused || session.Refused(cause)
			cancel() // once is enough
			return false
		},
	}, b)
	s.Run(ctx)
	return f
}

func answers(ctx context.Context, b drivers.Buses, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	c, err := b.Dial(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Neighbours are the addresses at which a hub may be in the networks of this
// machine: port 1883 of every other host, of a large network the 254 around
// this one. Networks that are not private are left out.
func Neighbours(networks []net.Addr) (all []string) {
	for _, n := range networks {
		ip, network, err := net.ParseCIDR(n.String())
		own := ip.To4()
		if err != nil || own == nil || !own.IsPrivate() {
			continue
		}
		if ones, _ := network.Mask.Size(); ones < 24 {
			network = &net.IPNet{IP: own.Mask(net.CIDRMask(24, 32)), Mask: net.CIDRMask(24, 32)}
		}
		first := network.IP.To4()
		ones, _ := network.Mask.Size()
		for i := 1; i < 1<<(32-ones)-1; i++ {
			host := net.IPv4(first[0], first[1], first[2], first[3]+byte(i))
			if address := net.JoinHostPort(host.String(), "1883"); !host.Equal(own) && !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	return all
}
