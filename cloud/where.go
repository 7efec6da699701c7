package cloud

// locate begins with the brokers that At names, if they are others than before.
func (l *Link) locate() error {
	if l.o.At == nil {
		return nil
	}
	l.mu.Lock()
	last := l.trouble
	l.mu.Unlock()
	at := l.o.At(last)
	if at == l.named {
		return nil
	}
	all, err := targets(at)
	if err != nil {
		return fault{CauseMisconfigured, err}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.named, l.brokers, l.at, l.failed = at, all, 0, 0
	l.endpoint, l.speaks = all[0], ""
	return nil
}
