package host

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// The layout of include/uapi/linux/i2c.h: the pointer comes at its own
// alignment, on 32 and on 64 bit.
func TestI2CLayout(t *testing.T) {
	var m i2cMessage
	var all i2cMessages
	word := unsafe.Sizeof(uintptr(0))
	if unsafe.Offsetof(m.flags) != 2 || unsafe.Offsetof(m.size) != 4 || unsafe.Offsetof(m.data) != 8 {
		t.Error("struct i2c_msg")
	}
	if unsafe.Sizeof(m) != 8+word || unsafe.Offsetof(all.count) != word {
		t.Error("struct i2c_rdwr_ioctl_data")
	}
}

func TestI2CChipThatIsAbsent(t *testing.T) {
	for errno, offline := range map[error]bool{
		syscall.ENXIO: true, syscall.EREMOTEIO: true, syscall.EIO: false, syscall.ETIMEDOUT: false,
	} {
		err := absent("bus i2c-1 address 0x48", errno)
		if errors.Is(err, drivers.ErrOffline) != offline || !errors.Is(err, errno) || !strings.Contains(err.Error(), "0x48") {
			t.Errorf("%v becomes %v", errno, err)
		}
	}
}

func TestI2CSpeedIsTheBoards(t *testing.T) {
	if err := (&bus{}).SetSpeed(physic.MegaHertz); err == nil {
		t.Error("a driver changed the speed of a shared bus")
	}
}
