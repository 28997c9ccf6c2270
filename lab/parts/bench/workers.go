package main

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// A lost datagram must not stop its socket; a connection that is never answered must not hang.
const patience = 250 * time.Millisecond

// A worker does one unit of work with what it holds and says how much that was.
type worker interface {
	step() (int64, error)
	// settle waits until no work is in flight: it would count in the slice of the other address.
	settle()
	close()
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
			return &sender{fd: fd, bytes: sentBytes[:]}, err
		}, nil
	}
	return nil, fmt.Errorf("%q is no mode", mode)
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
	_, err = uninterrupted(func() (int, error) { return 0, syscall.Connect(fd, to) })
	return fd, err
}

// The runtime interrupts threads, and a call with a time-out is not begun again by the kernel. A
// second connect waits for the first.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		count, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return count, err
		}
	}
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

func (connector *connector) settle() {}
func (connector *connector) close()  {}

type requester struct {
	fd      int
	message [messageBytes]byte
}

func (requester *requester) step() (int64, error) {
	return exchange(requester.fd, requester.message[:])
}

func (requester *requester) settle() {}
func (requester *requester) close()  { syscall.Close(requester.fd) }

func exchange(fd int, message []byte) (int64, error) {
	if _, err := uninterrupted(func() (int, error) { return syscall.Write(fd, message) }); err != nil {
		return 0, err
	}
	count, err := uninterrupted(func() (int, error) { return syscall.Read(fd, message) })
	if err != nil {
		return 0, err
	}
	if count == 0 {
		return 0, errors.New("closed without an answer")
	}
	return 1, nil
}

// One buffer for all senders: its location alone changes the rate by percents.
var sentBytes = func() (bytes [sinkBytes]byte) {
	for index := range bytes {
		bytes[index] = byte(index)
	}
	return
}()

type sender struct {
	fd    int
	bytes []byte
}

func (sender *sender) step() (int64, error) {
	count, err := uninterrupted(func() (int, error) { return syscall.Write(sender.fd, sender.bytes) })
	return int64(max(count, 0)), err
}

// Until the other side has everything that was sent.
func (sender *sender) settle() {
	for giveUpAt := time.Now().Add(patience); time.Now().Before(giveUpAt); {
		var queued int32
		where := uintptr(unsafe.Pointer(&queued))
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(sender.fd), syscall.TIOCOUTQ, where)
		if errno != 0 || queued == 0 {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func (sender *sender) close() { syscall.Close(sender.fd) }
