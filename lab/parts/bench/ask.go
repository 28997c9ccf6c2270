package main

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

type asked struct {
	Mode   string `json:"mode"`
	To     side   `json:"to"`
	Beside side   `json:"beside"`
}

// One of the two addresses, slice by slice; slices of the same number ran one right after the other.
type side struct {
	Slices []slice `json:"slices"`
	// Of single connections, from connect() to its end.
	P50Us float64 `json:"p50Us,omitempty"`
	P99Us float64 `json:"p99Us,omitempty"`
}

type slice struct {
	Seconds float64 `json:"seconds"`
	// Connections, requests or datagrams that were answered; in throughput mode bytes that were taken.
	Count  int64 `json:"count"`
	Failed int64 `json:"failed"`
	// CPU time of the client and of the processes that were named.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// ask puts one kind of load on two addresses alternately, and counts. The slices are short, so that
// a machine that is slower for a second is slower for both: A B, B A, A B.
func ask(args []string) error {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	mode := flags.String("mode", "connect", "connect, first, request, throughput or datagram")
	to := flags.String("to", "", "address:port")
	beside := flags.String("beside", "", "address:port of the alternate slices")
	pairs := flags.Int("pairs", 1, "slices of each address")
	turn := flags.Duration("slice", 50*time.Millisecond, "duration of a slice")
	workers := flags.Int("workers", 16, "concurrent workers")
	cgroup := flags.String("cgroup", "", "folder of the cgroup of the sockets")
	count := flags.String("count-cpu-of", "", "ids of processes that work for the client, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *cgroup != "" {
		// 0: the writing process.
		if err := os.WriteFile(filepath.Join(*cgroup, "cgroup.procs"), []byte("0"), 0); err != nil {
			return err
		}
	}
	clocks, err := clocksOf(*count)
	if err != nil {
		return err
	}
	// The process is short-lived, and a GC pause would fall into one of the slices.
	debug.SetGCPercent(-1)
	// Workers are nearly always in the kernel: with a P for each, the scheduler hands none over.
	runtime.GOMAXPROCS(2**workers + 1)
	var crowds []*crowd
	for _, address := range []string{*to, *beside} {
		crowd, err := newCrowd(*mode, address, *workers)
		if err != nil {
			return err
		}
		defer crowd.close()
		crowds = append(crowds, crowd)
	}
	for pair := range *pairs {
		for turnOf := range crowds {
			crowd := crowds[(turnOf+pair)%len(crowds)]
			if err := crowd.turn(*turn, clocks); err != nil {
				return err
			}
		}
	}
	return report(*mode, crowds)
}

func report(mode string, crowds []*crowd) error {
	for _, crowd := range crowds {
		if crowd.answered() == 0 {
			return fmt.Errorf("nothing was answered at %s: %w", crowd.address, crowd.lastError)
		}
	}
	return printJSON(asked{Mode: mode, To: crowds[0].side(), Beside: crowds[1].side()})
}

func newCrowd(mode, address string, size int) (*crowd, error) {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	target := &syscall.SockaddrInet4{Port: int(parsed.Port()), Addr: parsed.Addr().As4()}
	newWorker, err := workerFor(mode, target)
	if err != nil {
		return nil, err
	}
	crowd := &crowd{address: address, turns: make(chan time.Time), done: make(chan turned)}
	for range size {
		worker, err := newWorker()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		crowd.workers = append(crowd.workers, worker)
		go crowd.serveTurns(worker, mode == "first")
	}
	return crowd, nil
}

// Workers of one address; all of them run at once in its slices.
type crowd struct {
	address   string
	workers   []worker
	turns     chan time.Time
	done      chan turned
	slices    []slice
	tookUs    []float64
	lastError error
}

// What one worker has done in one slice.
type turned struct {
	count, failed int64
	tookUs        []float64
	lastError     error
}

func (crowd *crowd) turn(duration time.Duration, clocks []clock) error {
	cpuBefore, err := cpuSeconds(clocks)
	if err != nil {
		return err
	}
	begun := time.Now()
	for range crowd.workers {
		crowd.turns <- begun.Add(duration)
	}
	var made slice
	for range crowd.workers {
		turned := <-crowd.done
		made.Count += turned.count
		made.Failed += turned.failed
		crowd.tookUs = append(crowd.tookUs, turned.tookUs...)
		if turned.lastError != nil {
			crowd.lastError = turned.lastError
		}
	}
	made.Seconds = time.Since(begun).Seconds()
	cpuAfter, err := cpuSeconds(clocks)
	made.CPUSeconds = cpuAfter - cpuBefore
	crowd.slices = append(crowd.slices, made)
	return err
}

func (crowd *crowd) serveTurns(worker worker, timesEach bool) {
	runtime.LockOSThread()
	for until := range crowd.turns {
		var turned turned
		for now := time.Now(); now.Before(until); {
			done, err := worker.step()
			after := time.Now()
			if err != nil {
				turned.failed++
				turned.lastError = err
			} else if timesEach {
				turned.tookUs = append(turned.tookUs, float64(after.Sub(now).Nanoseconds())/1e3)
			}
			turned.count += done
			now = after
		}
		worker.settle()
		crowd.done <- turned
	}
}

func (crowd *crowd) answered() int64 {
	var all int64
	for _, slice := range crowd.slices {
		all += slice.Count
	}
	return all
}

func (crowd *crowd) side() side {
	side := side{Slices: crowd.slices}
	if len(crowd.tookUs) > 0 {
		slices.Sort(crowd.tookUs)
		side.P50Us = quantile(crowd.tookUs, 0.5)
		side.P99Us = quantile(crowd.tookUs, 0.99)
	}
	return side
}

func (crowd *crowd) close() {
	close(crowd.turns)
	for _, worker := range crowd.workers {
		worker.close()
	}
}

func quantile(sorted []float64, share float64) float64 {
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
