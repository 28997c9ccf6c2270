package main

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A lost datagram must not stop its socket; a connection that is never answered must not hang.
const patience = 250 * time.Millisecond

type asked struct {
	Mode    string  `json:"mode"`
	Seconds float64 `json:"seconds"`
	// Connections, requests or datagrams that were answered; in throughput mode bytes that were taken.
	Count  int64 `json:"count"`
	Failed int64 `json:"failed"`
	// Of the client alone.
	CPUSeconds float64 `json:"cpuSeconds"`
	// Of single connections, from connect() to its end.
	P50Us float64 `json:"p50Us,omitempty"`
	P99Us float64 `json:"p99Us,omitempty"`
}

// A worker does one unit of work with what it holds and says how much that was.
type worker interface {
	step() (int64, error)
	close()
}

// ask puts one kind of load on an address for some time, and counts.
func ask(args []string) error {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	mode := flags.String("mode", "connect", "connect, first, request, throughput or datagram")
	to := flags.String("to", "", "address:port")
	duration := flags.Duration("for", time.Second, "how long")
	workers := flags.Int("workers", 16, "at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	address, err := netip.ParseAddrPort(*to)
	if err != nil {
		return err
	}
	target := &syscall.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}
	newWorker, err := workerFor(*mode, target)
	if err != nil {
		return err
	}
	// Each is nearly always inside the kernel: with a place of its own nobody hands places around.
	runtime.GOMAXPROCS(*workers + 1)
	crowd := &crowd{until: time.Now().Add(*duration), newWorker: newWorker, timesEach: *mode == "first"}
	begun := time.Now()
	crowd.run(*workers)
	result := asked{Mode: *mode, Seconds: time.Since(begun).Seconds(), Count: crowd.count, Failed: crowd.failed}
	result.CPUSeconds = ownCPUSeconds()
	if len(crowd.tookUs) > 0 {
		slices.Sort(crowd.tookUs)
		result.P50Us = quantile(crowd.tookUs, 0.5)
		result.P99Us = quantile(crowd.tookUs, 0.99)
	}
	if crowd.count == 0 {
		return fmt.Errorf("nothing was answered at %s: %w", *to, crowd.lastError)
	}
	return printJSON(result)
}

func workerFor(mode string, to *syscall.SockaddrInet4) (func() (worker, error), error) {
	switch mode {
	case "connect":
		return func() (worker, error) { return &connector{to: to, asks: true}, nil }, nil
	case "first":
		return func() (worker, error) { return &connector{to: to}, nil }, nil
	case "request", "datagram":
		kind := syscall.SOCK_STREAM
		if mode == "datagram" {
			kind = syscall.SOCK_DGRAM
		}
		return func() (worker, error) {
			fd, err := dial(kind, to)
			return &requester{fd: fd}, err
		}, nil
	case "throughput":
		return func() (worker, error) {
			fd, err := dial(syscall.SOCK_STREAM, to)
			return &sender{fd: fd, bytes: make([]byte, sinkBytes)}, err
		}, nil
	}
	return nil, fmt.Errorf("%q is no mode", mode)
}

type crowd struct {
	until     time.Time
	newWorker func() (worker, error)
	timesEach bool

	lock      sync.Mutex
	count     int64
	failed    int64
	tookUs    []float64
	lastError error
}

func (crowd *crowd) run(workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			runtime.LockOSThread()
			crowd.work()
		})
	}
	all.Wait()
}

func (crowd *crowd) work() {
	var count, failed int64
	var lastError error
	var tookUs []float64
	defer func() {
		crowd.lock.Lock()
		defer crowd.lock.Unlock()
		crowd.count += count
		crowd.failed += failed
		crowd.tookUs = append(crowd.tookUs, tookUs...)
		if lastError != nil {
			crowd.lastError = lastError
		}
	}()
	worker, err := crowd.newWorker()
	if err != nil {
		failed, lastError = 1, err
		return
	}
	defer worker.close()
	for now := time.Now(); now.Before(crowd.until); {
		done, err := worker.step()
		after := time.Now()
		if err != nil {
			failed++
			lastError = err
		} else if crowd.timesEach {
			tookUs = append(tookUs, float64(after.Sub(now).Nanoseconds())/1e3)
		}
		count += done
		now = after
	}
}

func dial(kind int, to *syscall.SockaddrInet4) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, kind, 0)
	if err != nil {
		return 0, err
	}
	timeout := syscall.NsecToTimeval(patience.Nanoseconds())
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &timeout); err != nil {
			return fd, err
		}
	}
	return fd, syscall.Connect(fd, to)
}

// One connection after the other. It ends each with a reset: ports in TIME_WAIT would run out.
type connector struct {
	to      *syscall.SockaddrInet4
	asks    bool
	message [messageBytes]byte
}

func (connector *connector) step() (int64, error) {
	fd, err := dial(syscall.SOCK_STREAM, connector.to)
	if fd > 0 {
		defer syscall.Close(fd)
	}
	if err != nil {
		return 0, err
	}
	linger := syscall.Linger{Onoff: 1}
	if err := syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &linger); err != nil {
		return 0, err
	}
	if !connector.asks {
		return 1, nil
	}
	return exchange(fd, connector.message[:])
}

func (connector *connector) close() {}

type requester struct {
	fd      int
	message [messageBytes]byte
}

func (requester *requester) step() (int64, error) {
	return exchange(requester.fd, requester.message[:])
}

func (requester *requester) close() { syscall.Close(requester.fd) }

func exchange(fd int, message []byte) (int64, error) {
	if _, err := syscall.Write(fd, message); err != nil {
		return 0, err
	}
	count, err := syscall.Read(fd, message)
	if err != nil {
		return 0, err
	}
	if count == 0 {
		return 0, errors.New("closed without an answer")
	}
	return 1, nil
}

type sender struct {
	fd    int
	bytes []byte
}

func (sender *sender) step() (int64, error) {
	count, err := syscall.Write(sender.fd, sender.bytes)
	return int64(max(count, 0)), err
}

func (sender *sender) close() { syscall.Close(sender.fd) }

func quantile(sorted []float64, share float64) float64 {
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func ownCPUSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
