package mailtest

import "net"

// pipeListener takes what Dial brings.
type pipeListener struct{ relay *Relay }

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.relay.pipes:
		return c, nil
	case <-l.relay.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 25} }

// loginServer is AUTH LOGIN.
type loginServer struct {
	check func(user, password string) error
	step  int
	user  string
}

func (s *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	s.step++
	switch s.step {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		s.user = string(response)
		return []byte("Password:"), false, nil
	}
	return nil, true, s.check(s.user, string(response))
}
