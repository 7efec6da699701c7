package health

import (
	"fmt"
	"io"
	"runtime"

	disks "roomgate/store/disk"
)

// WriteMetrics writes the building's figures in the Prometheus text format
// (version 0.0.4). Labels are bounded by the configuration.
func (m *Monitor) WriteMetrics(w io.Writer) {
	h, stats := m.Report(), m.o.DB.Stats()
	gauge := func(name, help string, value any) {
		fmt.Fprintf(w, "# HELP roomgate_%s %s\n# TYPE roomgate_%s gauge\nroomgate_%s %v\n", name, help, name, name, value)
	}
	counter := func(name, help string, value any) {
		fmt.Fprintf(w, "# HELP roomgate_%s %s\n# TYPE roomgate_%s counter\nroomgate_%s %v\n", name, help, name, name, value)
	}
	fmt.Fprintf(w, "# HELP roomgate_build_info What is running.\n# TYPE roomgate_build_info gauge\n"+
		"roomgate_build_info{version=%q,goversion=%q} 1\n", m.o.Version, runtime.Version())
	gauge("uptime_seconds", "Time since the start.", h.UptimeS)
	gauge("outbox_messages", "Messages that the cloud has not acknowledged.", h.OutboxDepth)
	gauge("cloud_connected", "1 while the link to the cloud is open.", number(h.CloudConnected))
	gauge("cloud_contested", "Connections in a row that the broker closed soon, as another gateway has this id; 0: it is not so.", h.CloudContested)
	gauge("door_orders_unsigned", "1 while a command of the cloud to a door needs no signature.", number(h.DoorOrders == DoorsUnsigned))
	gauge("clock_trusted", "1 while the wall clock is trusted.", number(h.Clock.Trusted))
	gauge("store_size_bytes", "Size of the database file.", h.StoreBytes)
	gauge("disk_free_bytes", "Free space on the disk of the data folder.", h.DiskFreeBytes)
	fmt.Fprintf(w, "# HELP roomgate_storage_degraded 1 while the disk does not take what is to be stored, by how it is.\n# TYPE roomgate_storage_degraded gauge\n")
	for _, state := range []disks.State{disks.Full, disks.Failing, disks.ReadOnly} {
		fmt.Fprintf(w, "roomgate_storage_degraded{storage=%q} %d\n", state, number(h.Degraded != nil && h.Degraded.Storage == state))
	}
	counter("store_written_bytes_total", "Bytes written to the database.", stats.BytesWritten)
	gauge("store_written_day_bytes", "Bytes written in the last 24 hours, with those of snapshots.", h.StoreWrittenDay)
	counter("store_commits_total", "Durable transactions.", stats.Commits)
	m.Queues().write(w)
	gauge("go_goroutines", "Goroutines that exist.", runtime.NumGoroutine())
	fmt.Fprintf(w, "# HELP roomgate_device_online 1 while a device answers.\n# TYPE roomgate_device_online gauge\n")
	for _, s := range m.o.Spaces() {
		for _, d := range s.Devices {
			for _, r := range d.Readings() {
				fmt.Fprintf(w, "roomgate_device_online{meeting_space=%q,device=%q} %d\n", s.Name, r.Device, number(!r.Offline()))
			}
		}
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
