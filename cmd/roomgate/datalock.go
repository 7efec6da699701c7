package main

import (
	"errors"
	"os"

	"roomgate/agent/backup"
	"roomgate/agent/config"
)

// locks are held against every gateway that could use a data directory.
type locks []*os.File

// Close gives them back.
func (l locks) Close() (err error) {
	for _, f := range l {
		err = errors.Join(err, f.Close())
	}
	return err
}

// lockGateway takes the data directory of a gateway that does not run. As a
// service it has its lock in the runtime directory, which is there only while
// the service is.
func lockGateway(data string) (held locks, err error) {
	dirs := []string{data}
	if _, err := os.Stat(serviceRuntime); err == nil && data == config.Default().Data {
		dirs = append(dirs, serviceRuntime)
	}
	for _, dir := range dirs {
		f, err := lockDirectory(dir)
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		held = append(held, f)
		if err := backup.GiveTo(f.Name(), dir); err != nil {
			return nil, errors.Join(err, held.Close())
		}
	}
	return held, nil
}
