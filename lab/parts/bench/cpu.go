package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// The clock that counts the CPU time of one process with all its threads, in nanoseconds.
type clock uintptr

const ownClock clock = 2

// The kernel's own way to name the clock of a process by its id; see clock_getcpuclockid(3).
func clockOf(pid int) clock {
	return clock(uint32(^int32(pid)<<3 | int32(ownClock)))
}

// The client's own, and one for each process in the list.
func clocksOf(pids string) ([]clock, error) {
	clocks := []clock{ownClock}
	for _, text := range strings.FieldsFunc(pids, func(each rune) bool { return each == ',' }) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		clocks = append(clocks, clockOf(pid))
	}
	return clocks, nil
}

func cpuSeconds(clocks []clock) (float64, error) {
	var all float64
	for _, clock := range clocks {
		var time syscall.Timespec
		where := uintptr(unsafe.Pointer(&time))
		if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), where, 0); errno != 0 {
			return 0, fmt.Errorf("the CPU time of a process that is counted: %w", errno)
		}
		all += float64(time.Nano()) / 1e9
	}
	return all, nil
}

func ownCPUSeconds() float64 {
	seconds, err := cpuSeconds([]clock{ownClock})
	if err != nil {
		return 0
	}
	return seconds
}
