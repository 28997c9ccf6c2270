package main

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// How a connection of `load` is used.
type loadMode int

const (
	// Connect, 64 bytes there and back, close; again.
	loadConnect loadMode = iota
	// 64 bytes there and back on kept connections.
	loadRequest
	// As many bytes as go through: to the sink on half of the connections, from the source on the others.
	loadTransfer
	// Connect, 64 bytes there and back, and keep the connection open.
	loadHold
	// Send to a server that never reads, until nothing more is taken; keep the connection open.
	loadPush
)

var loadModes = map[string]loadMode{
	"connect": loadConnect, "request": loadRequest, "transfer": loadTransfer, "hold": loadHold, "push": loadPush,
}

type loaded struct {
	Seconds float64 `json:"seconds"`
	// Connections, requests or bytes.
	Count     int64  `json:"count"`
	Failed    int64  `json:"failed"`
	LastError string `json:"lastError,omitempty"`
	// CPU time of this process, then that of each process that was named.
	CPUSeconds []float64 `json:"cpuSeconds"`
}

// load puts one kind of load on an address, by loops that wait for many connections at once: it costs
// less CPU time than what it measures. Holding modes print when everything is open, and end with a
// signal.
func load(args []string) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	mode := flags.String("mode", "connect", "connect, request, transfer, hold or push")
	to := flags.String("to", "", "address:port")
	from := flags.String("from", "", "address:port of the source, in transfer mode")
	connections := flags.Int("connections", 32, "at once")
	loops := flags.Int("loops", runtime.NumCPU(), "threads")
	warm := flags.Duration("warm", 0, "the same load before anything is counted")
	duration := flags.Duration("for", time.Second, "how long to count")
	count := flags.String("count-cpu-of", "", "ids of processes, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, isMode := loadModes[*mode]
	if !isMode {
		return fmt.Errorf("%q is no mode", *mode)
	}
	clocks, err := clocksOf(*count)
	if err != nil {
		return err
	}
	debug.SetGCPercent(-1)
	targets, err := targetsOf(chosen, *to, *from)
	if err != nil {
		return err
	}
	var team []*loadLoop
	for index := range *loops {
		share := (*connections + *loops - 1 - index) / *loops
		loop, err := newLoadLoop(chosen, targets, share)
		if err != nil {
			return err
		}
		team = append(team, loop)
	}
	if chosen == loadHold || chosen == loadPush {
		return holdAll(team, *connections, clocks)
	}
	result, err := countAll(team, *warm, *duration, clocks)
	if err != nil {
		return err
	}
	return printJSON(result)
}

// targetsOf gives the address of every second connection in turn.
func targetsOf(mode loadMode, addresses ...string) ([]*syscall.SockaddrInet4, error) {
	if mode != loadTransfer {
		addresses = addresses[:1]
	}
	var targets []*syscall.SockaddrInet4
	for _, address := range addresses {
		parsed, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		targets = append(targets, &syscall.SockaddrInet4{Port: int(parsed.Port()), Addr: parsed.Addr().As4()})
	}
	return targets, nil
}

func countAll(team []*loadLoop, warm, duration time.Duration, clocks []clock) (loaded, error) {
	failed := make(chan error, len(team))
	for _, loop := range team {
		go func() { failed <- loop.run() }()
	}
	fails := func(wait time.Duration) error {
		select {
		case err := <-failed:
			return err
		case <-time.After(wait):
			return nil
		}
	}
	if err := fails(warm); err != nil {
		return loaded{}, err
	}
	before, err := measureAll(team, clocks)
	if err != nil {
		return loaded{}, err
	}
	if err := fails(duration); err != nil {
		return loaded{}, err
	}
	after, err := measureAll(team, clocks)
	if err != nil {
		return loaded{}, err
	}
	return after.since(before), nil
}

func (after loaded) since(before loaded) loaded {
	after.Seconds -= before.Seconds
	after.Count -= before.Count
	after.Failed -= before.Failed
	for index := range after.CPUSeconds {
		after.CPUSeconds[index] -= before.CPUSeconds[index]
	}
	return after
}

// measureAll gives sums since the beginning of everything.
func measureAll(team []*loadLoop, clocks []clock) (loaded, error) {
	sum := loaded{Seconds: monotonicMs() / 1_000}
	for _, loop := range team {
		sum.Count += loop.count.Load()
		sum.Failed += loop.failed.Load()
		if text := loop.lastError.Load(); text != nil {
			sum.LastError = *text
		}
	}
	for _, each := range clocks {
		seconds, err := cpuSeconds([]clock{each})
		if err != nil {
			return sum, err
		}
		sum.CPUSeconds = append(sum.CPUSeconds, seconds)
	}
	return sum, nil
}

// When nothing more was taken for so long, nothing more will be.
const stillTime = time.Second

// holdAll opens everything, says so, and keeps it until a signal comes.
func holdAll(team []*loadLoop, connections int, clocks []clock) error {
	failed := make(chan error, len(team))
	for _, loop := range team {
		go func() { failed <- loop.run() }()
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	var last int64
	var lastChange time.Time
	isTold := false
	for {
		select {
		case err := <-failed:
			return err
		case <-ended:
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		sum, err := measureAll(team, clocks)
		if err != nil {
			return err
		}
		if sum.Failed > 0 {
			return fmt.Errorf("%d connections failed: %s", sum.Failed, sum.LastError)
		}
		if sum.Count != last {
			last, lastChange = sum.Count, time.Now()
		}
		isHeld := team[0].mode == loadHold && sum.Count == int64(connections)
		isStill := team[0].mode == loadPush && sum.Count > 0 && time.Since(lastChange) > stillTime
		if !isTold && (isHeld || isStill) {
			isTold = true
			if err := printJSON(sum); err != nil {
				return err
			}
		}
	}
}
