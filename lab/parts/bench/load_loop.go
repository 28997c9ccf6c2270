package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
)

// Connections of a holding mode that are being opened at once, in each loop.
const mostOpening = 64

const (
	edgeTriggered = 1 << 31
	levelEvents   = syscall.EPOLLIN | syscall.EPOLLRDHUP
)

type loadState int8

const (
	connecting loadState = iota
	asking
	moving
	idle
)

type loadConnection struct {
	fd    int
	state loadState
}

// One thread with an epoll of its own and a share of the connections.
type loadLoop struct {
	mode        loadMode
	targets     []*syscall.SockaddrInet4
	poll        int
	connections []loadConnection
	opened      int
	scratch     []byte
	count       atomic.Int64
	failed      atomic.Int64
	lastError   atomic.Pointer[string]
}

func newLoadLoop(mode loadMode, targets []*syscall.SockaddrInet4, size int) (*loadLoop, error) {
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return nil, err
	}
	connections := make([]loadConnection, size)
	return &loadLoop{
		mode: mode, targets: targets, poll: poll, connections: connections, scratch: make([]byte, sinkBytes),
	}, nil
}

func (loop *loadLoop) run() error {
	runtime.LockOSThread()
	most := len(loop.connections)
	if loop.mode == loadHold {
		most = min(most, mostOpening)
	}
	for range most {
		if err := loop.openNext(); err != nil {
			return err
		}
	}
	events := make([]syscall.EpollEvent, 256)
	for {
		count, err := syscall.EpollWait(loop.poll, events, -1)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		for _, event := range events[:count] {
			if err := loop.handle(int(event.Fd), event.Events); err != nil {
				return err
			}
		}
	}
}

func (loop *loadLoop) openNext() error {
	if loop.opened == len(loop.connections) {
		return nil
	}
	loop.opened++
	return loop.open(loop.opened - 1)
}

func (loop *loadLoop) isSending(index int) bool {
	return loop.mode == loadPush || (loop.mode == loadTransfer && index%2 == 0)
}

func (loop *loadLoop) open(index int) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	loop.connections[index] = loadConnection{fd: fd, state: connecting}
	to := loop.targets[index%len(loop.targets)]
	if err := syscall.Connect(fd, to); err != nil && !errors.Is(err, syscall.EINPROGRESS) {
		return fmt.Errorf("connect: %w", err)
	}
	event := syscall.EpollEvent{Fd: int32(index), Events: syscall.EPOLLOUT}
	if loop.mode != loadTransfer {
		// Never changed again: one call less for each connection.
		event.Events |= syscall.EPOLLIN | edgeTriggered
	}
	return syscall.EpollCtl(loop.poll, syscall.EPOLL_CTL_ADD, fd, &event)
}

func (loop *loadLoop) handle(index int, events uint32) error {
	connection := &loop.connections[index]
	if connection.state == connecting {
		return loop.connected(index, events)
	}
	switch connection.state {
	case asking:
		if events&syscall.EPOLLIN != 0 {
			return loop.answered(index)
		}
	case moving:
		return loop.move(index)
	case idle:
		return loop.fail(index, errors.New("closed by the server"))
	}
	return nil
}

func (loop *loadLoop) connected(index int, events uint32) error {
	connection := &loop.connections[index]
	if events&(syscall.EPOLLERR|syscall.EPOLLHUP) != 0 {
		code, _ := syscall.GetsockoptInt(connection.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
		return loop.fail(index, syscall.Errno(code))
	}
	switch loop.mode {
	case loadConnect, loadRequest, loadHold:
		connection.state = asking
		return loop.ask(index)
	case loadPush:
		connection.state = moving
		return loop.move(index)
	}
	connection.state = moving
	if loop.isSending(index) {
		return nil
	}
	event := syscall.EpollEvent{Fd: int32(index), Events: levelEvents}
	return syscall.EpollCtl(loop.poll, syscall.EPOLL_CTL_MOD, connection.fd, &event)
}

func (loop *loadLoop) ask(index int) error {
	if _, err := syscall.Write(loop.connections[index].fd, sentBytes[:messageBytes]); err != nil {
		return loop.fail(index, err)
	}
	return nil
}

func (loop *loadLoop) answered(index int) error {
	connection := &loop.connections[index]
	count, err := syscall.Read(connection.fd, loop.scratch[:messageBytes])
	if errors.Is(err, syscall.EAGAIN) {
		return nil
	}
	if err == nil && count != messageBytes {
		err = fmt.Errorf("%d bytes instead of an answer", count)
	}
	if err != nil {
		return loop.fail(index, err)
	}
	loop.count.Add(1)
	switch loop.mode {
	case loadRequest:
		return loop.ask(index)
	case loadHold:
		connection.state = idle
		return loop.openNext()
	}
	syscall.Close(connection.fd)
	return loop.open(index)
}

// move sends or reads once where the kernel says again that there is more; a push sends all it can.
func (loop *loadLoop) move(index int) error {
	connection := &loop.connections[index]
	for {
		var count int
		var err error
		if loop.isSending(index) {
			count, err = syscall.Write(connection.fd, sentBytes[:])
		} else {
			count, err = syscall.Read(connection.fd, loop.scratch)
		}
		if errors.Is(err, syscall.EAGAIN) {
			return nil
		}
		if err == nil && count == 0 {
			err = errors.New("closed by the server")
		}
		if err != nil {
			return loop.fail(index, err)
		}
		loop.count.Add(int64(count))
		if loop.mode != loadPush {
			return nil
		}
	}
}

// fail counts, and begins anew with another connection.
func (loop *loadLoop) fail(index int, err error) error {
	loop.failed.Add(1)
	text := err.Error()
	loop.lastError.Store(&text)
	syscall.Close(loop.connections[index].fd)
	return loop.open(index)
}
