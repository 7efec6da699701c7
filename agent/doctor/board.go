package doctor

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// board names the machine by its device tree, or says that it is none of ours.
func board(_ context.Context, x *examination) []Finding {
	model := cmp.Or(x.read("sys/firmware/devicetree/base/model"), x.read("proc/device-tree/model"))
	if model != "" {
		return one(good("board", "%s (%s)", model, runtime.GOARCH))
	}
	machine := cmp.Or(x.read("sys/class/dmi/id/product_name"), "a virtual machine or a computer without a name")
	seen := fmt.Sprintf("no device tree (%s, %s): this is not a board", machine, runtime.GOARCH)
	if wired := x.wired(); len(wired) > 0 {
		which := wired[0].name + " of the configuration belongs"
		if more := len(wired) - 1; more > 0 {
			which = fmt.Sprintf("%s and %d more of the configuration belong", wired[0].name, more)
		}
		return one(warn("board", seen, "run the gateway on the board to which "+which))
	}
	return one(good("board", "%s", seen))
}

// wired are the needs that only a board fulfils.
func (x *examination) wired() (all []need) {
	for _, n := range x.needs {
		if n.kind != kindCamera {
			all = append(all, n)
		}
	}
	return all
}

// oldestKernel has the GPIO interface that drivers/host uses.
var oldestKernel = [2]int{5, 10}

func kernel(_ context.Context, x *examination) []Finding {
	release := x.read("proc/sys/kernel/osrelease")
	var major, minor int
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n < 2 {
		return one(warn("kernel", fmt.Sprintf("%q says no version", release), "see uname -r: Linux 5.10 or newer is needed"))
	}
	if major < oldestKernel[0] || major == oldestKernel[0] && minor < oldestKernel[1] {
		return one(fail("kernel", "Linux "+release+", which has no GPIO interface of version 2", "install Linux 5.10 or newer"))
	}
	return one(good("kernel", "Linux %s", release))
}

const (
	littleMemory = 64 << 20 // bytes
	noMemory     = 24 << 20
)

// memory is what the kernel could still give (proc(5), MemAvailable).
func memory(_ context.Context, x *examination) []Finding {
	total, available := x.meminfo("MemTotal"), x.meminfo("MemAvailable")
	seen := fmt.Sprintf("%s available of %s", size(available), size(total))
	const fix = "see what else runs here with ps aux --sort -rss"
	switch {
	case total == 0:
		return one(warn("memory", "/proc/meminfo says nothing", "see free -m"))
	case available < noMemory:
		return one(fail("memory", seen, fix))
	case available < littleMemory:
		return one(warn("memory", seen, fix))
	}
	return one(good("memory", "%s", seen))
}

// meminfo is a row of /proc/meminfo in bytes, 0 if it is not there.
func (x *examination) meminfo(key string) uint64 {
	for line := range strings.Lines(x.read("proc/meminfo")) {
		name, rest, _ := strings.Cut(line, ":")
		if f := strings.Fields(rest); name == key && len(f) > 0 {
			kilo, _ := strconv.ParseUint(f[0], 10, 64)
			return kilo << 10
		}
	}
	return 0
}

// size writes bytes for people.
func size(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if f < 10 && i > 0 {
		return fmt.Sprintf("%.1f %s", f, units[i])
	}
	return fmt.Sprintf("%.0f %s", f, units[i])
}
