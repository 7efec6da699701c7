package cell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"roomgate/cloud/internal/whole"
)

// loginsFile is which gateways have been admitted. It has no password.
const loginsFile = "logins.json"

// Folder is that of roomgate cloud cell.
type Folder string

// Change changes who is admitted, one after the other, and writes what brokers read and the passwords
// that change returns.
func (dir Folder) Change(change func(*Logins) (passwords map[string]string, err error)) (logins *Logins, err error) {
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return nil, err
	}
	lock, err := os.Open(string(dir))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	if logins, err = dir.Read(); err != nil {
		return nil, err
	}
	made, err := change(logins)
	if err != nil {
		return nil, err
	}
	// Passwords are first: without their hashes they let nobody in, while nobody could make a hash's password again.
	for user, password := range made {
		if err := dir.write(user+".password", password+"\n"); err != nil {
			return nil, err
		}
	}
	raw, err := json.MarshalIndent(logins, "", "  ")
	if err != nil {
		return nil, err
	}
	files := logins.Files()
	files[loginsFile] = string(raw) + "\n"
	for name, content := range files {
		if err := dir.write(name, content); err != nil {
			return nil, err
		}
	}
	return logins, nil
}

func (dir Folder) write(name, content string) error {
	return whole.Write(filepath.Join(string(dir), name), []byte(content), 0o600)
}

// Admit admits a gateway. Its password goes with its claim, and nowhere else.
func (dir Folder) Admit(gateway string) (user, password string, err error) {
	_, err = dir.Change(func(c *Logins) (map[string]string, error) {
		made, err := c.Admit(gateway)
		user, password = gateway, made[gateway]
		delete(made, gateway)
		return made, err
	})
	return user, password, err
}

// Admitted says whether a gateway has a login.
func (dir Folder) Admitted(gateway string) (bool, error) {
	logins, err := dir.Read()
	return err == nil && logins.find(gateway) >= 0, err
}

// Read is who is admitted.
func (dir Folder) Read() (*Logins, error) {
	logins := &Logins{}
	path := filepath.Join(string(dir), loginsFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return logins, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, logins)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return logins, nil
}
