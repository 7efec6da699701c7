package agenttest

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/config"
	"roomgate/configs"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/sim/plan"
)

// BenchmarkPollRoom is one observation of every device of a room on buses in
// memory, the real drivers above them.
func BenchmarkPollRoom(b *testing.B) {
	c, err := config.Parse("demo.yaml", configs.Demo, all.All())
	if err != nil {
		b.Fatal(err)
	}
	world, err := plan.Parse(configs.DemoWorld)
	if err != nil {
		b.Fatal(err)
	}
	defer world.Close()
	for _, space := range c.Spaces {
		b.Run(space.Name, func(b *testing.B) {
			opened := make([]drivers.Driver, len(space.Devices))
			for i, d := range space.Devices {
				if opened[i], err = d.Options.Open(b.Context(), world); err != nil {
					b.Fatal(err)
				}
				defer opened[i].Close()
			}
			time.Sleep(3 * time.Second) // the hub reports for the first time
			for b.Loop() {
				for i, d := range opened {
					if _, err := d.Poll(b.Context()); err != nil {
						b.Fatalf("%s: %v", space.Devices[i].ID, err)
					}
				}
			}
		})
	}
}

// BenchmarkIdleBuilding is what the demo building costs when nothing happens:
// twelve devices polled each second, their simulated chips included. The goal
// is 1 % of a core.
func BenchmarkIdleBuilding(b *testing.B) {
	building := Start(b, Options{})
	const long = 5 * time.Second
	for b.Loop() {
		before := processorTime(b)
		time.Sleep(long)
		used := processorTime(b) - before
		b.ReportMetric(100*used.Seconds()/long.Seconds(), "%-of-a-core")
	}
	devices, err := building.Site.Devices("")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(devices)), "devices")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
