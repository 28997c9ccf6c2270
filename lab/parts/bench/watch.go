package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	nftablesGroup        = 7
	soReceiveBufferForce = 33
	receiveBufferBytes   = 32 * 1024 * 1024
	clockMonotonic       = 1
	pollEvery            = 2 * time.Millisecond
)

// sight says when the kernel announced rules or elements with the expected address in them. Times
// are milliseconds of the monotonic clock, which every process of the machine shares.
type sight struct {
	FirstMs   float64 `json:"firstMs"`
	LastMs    float64 `json:"lastMs"`
	Count     int     `json:"count"`
	IsOverrun bool    `json:"isOverrun"`
	// When the API server sent it to a client that only listens. 0: not seen.
	ToldMs float64 `json:"toldMs"`
}

type watcher struct {
	lock    sync.Mutex
	pattern []byte
	// The address as JSON has it, in quotes.
	text []byte
	seen sight
}

// watch listens to the nftables notifications of a namespace, which the kernel sends when it has
// committed a transaction, and if asked to, to the endpoint slices of an API server. It answers each line of its input with one line:
//
//	expect ADDRESS             discards earlier events, and watches for this address from now on
//	wait QUIET_MS DEADLINE_MS  the sight, QUIET_MS after the last event
func watch(args []string) error {
	flags := flag.NewFlagSet("watch", flag.ContinueOnError)
	namespace := flags.String("namespace", "", "path of the namespace to listen in")
	server := flags.String("server", "", "of the API whose slices are watched as well")
	tokenFile := flags.String("token-file", "", "for the API")
	authorityFile := flags.String("authority-file", "", "certificate that signs the API server")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.LockOSThread()
	socket, err := openIn(*namespace)
	if err != nil {
		return err
	}
	if err := socket.listen(); err != nil {
		return err
	}
	state := &watcher{}
	failed := make(chan error, 2)
	go func() { failed <- state.read(socket) }()
	if *server != "" {
		stream, err := openStream(*server, *tokenFile, *authorityFile)
		if err != nil {
			return err
		}
		go func() { failed <- state.readStream(stream) }()
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		select {
		case err := <-failed:
			return err
		default:
		}
		if err := state.answer(strings.Fields(lines.Text())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (netlink *netlink) listen() error {
	if err := syscall.SetsockoptInt(netlink.fd, syscall.SOL_SOCKET, soReceiveBufferForce, receiveBufferBytes); err != nil {
		return err
	}
	const addMembership = 1
	return syscall.SetsockoptInt(netlink.fd, solNetlink, addMembership, nftablesGroup)
}

const solNetlink = 270

func (watcher *watcher) read(socket *netlink) error {
	buffer := make([]byte, 1024*1024)
	for {
		count, _, err := syscall.Recvfrom(socket.fd, buffer, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENOBUFS):
			watcher.lock.Lock()
			watcher.seen.IsOverrun = true
			watcher.lock.Unlock()
		case err != nil:
			return err
		default:
			watcher.look(buffer[:count])
		}
	}
}

func (watcher *watcher) look(received []byte) {
	watcher.lock.Lock()
	defer watcher.lock.Unlock()
	if watcher.pattern == nil {
		return
	}
	found := bytes.Count(received, watcher.pattern)
	if found == 0 {
		return
	}
	now := monotonicMs()
	if watcher.seen.Count == 0 {
		watcher.seen.FirstMs = now
	}
	watcher.seen.LastMs = now
	watcher.seen.Count += found
}

func (watcher *watcher) answer(words []string) error {
	switch {
	case len(words) == 2 && words[0] == "expect":
		address := net.ParseIP(words[1]).To4()
		if address == nil {
			return fmt.Errorf("%q is no IPv4 address", words[1])
		}
		watcher.lock.Lock()
		watcher.pattern, watcher.seen = address, sight{}
		watcher.text = []byte(strconv.Quote(words[1]))
		watcher.lock.Unlock()
		return printJSON(words[1])
	case len(words) == 3 && words[0] == "wait":
		quietMs, err := strconv.ParseFloat(words[1], 64)
		if err != nil {
			return err
		}
		deadlineMs, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			return err
		}
		return printJSON(watcher.wait(quietMs, deadlineMs))
	}
	return fmt.Errorf("%q is neither expect nor wait", words)
}

func (watcher *watcher) wait(quietMs, deadlineMs float64) sight {
	giveUpMs := monotonicMs() + deadlineMs
	for {
		watcher.lock.Lock()
		seen := watcher.seen
		watcher.lock.Unlock()
		now := monotonicMs()
		if (seen.Count > 0 && now-seen.LastMs >= quietMs) || now >= giveUpMs {
			return seen
		}
		time.Sleep(pollEvery)
	}
}

func monotonicMs() float64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return float64(now.Sec)*1e3 + float64(now.Nsec)/1e6
}
