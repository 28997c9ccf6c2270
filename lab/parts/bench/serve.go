package main

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"syscall"
)

const (
	// What is asked and what is answered, on TCP and UDP alike.
	messageBytes = 64
	backlog      = 4096
	soReusePort  = 15
	sinkBytes    = 256 * 1024
)

// Between the ports of two instances.
const portsPerInstance = 10

type servedPorts struct {
	echo, sink, source, mute int
}

func (ports servedPorts) ofInstance(index int) servedPorts {
	more := index * portsPerInstance
	return servedPorts{ports.echo + more, ports.sink + more, ports.source + more, ports.mute + more}
}

// serve answers every 64 bytes with 64 bytes on one TCP port, swallows what comes on another, sends
// without end on a third, accepts without ever reading on a fourth, and sends datagrams back. One
// loop for each CPU, with sockets of its own: nothing is shared.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	var ports servedPorts
	flags.IntVar(&ports.echo, "echo-port", 9000, "TCP and UDP port that answers")
	flags.IntVar(&ports.sink, "sink-port", 9001, "TCP port that only reads")
	flags.IntVar(&ports.source, "source-port", 9002, "TCP port that only sends")
	flags.IntVar(&ports.mute, "mute-port", 9003, "TCP port that accepts, and never reads")
	instances := flags.Int("instances", 1, "of all ports, each 10 above the one before")
	if err := flags.Parse(args); err != nil {
		return err
	}
	failed := make(chan error)
	for range runtime.NumCPU() {
		loop, err := newServeLoop()
		if err != nil {
			return err
		}
		for instance := range *instances {
			if err := loop.listen(ports.ofInstance(instance)); err != nil {
				return err
			}
		}
		go func() {
			runtime.LockOSThread()
			failed <- loop.run()
		}()
	}
	fmt.Println("serving")
	return <-failed
}

type kind int8

const (
	unknown kind = iota
	echoListener
	sinkListener
	datagrams
	sourceListener
	muteListener
	echoConnection
	sinkConnection
	sourceConnection
	muteConnection
)

type serveLoop struct {
	poll    int
	kinds   []kind
	scratch []byte
}

func newServeLoop() (*serveLoop, error) {
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return nil, err
	}
	return &serveLoop{poll: poll, scratch: make([]byte, sinkBytes)}, nil
}

func (loop *serveLoop) listen(ports servedPorts) error {
	for _, wanted := range []struct {
		kind       kind
		socketType int
		port       int
	}{
		{echoListener, syscall.SOCK_STREAM, ports.echo},
		{sinkListener, syscall.SOCK_STREAM, ports.sink},
		{sourceListener, syscall.SOCK_STREAM, ports.source},
		{muteListener, syscall.SOCK_STREAM, ports.mute},
		{datagrams, syscall.SOCK_DGRAM, ports.echo},
	} {
		fd, err := bound(wanted.socketType, wanted.port)
		if err != nil {
			return fmt.Errorf("port %d: %w", wanted.port, err)
		}
		if err := loop.add(fd, wanted.kind); err != nil {
			return err
		}
	}
	return nil
}

func bound(socketType, port int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, socketType|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, soReusePort, 1); err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port}); err != nil {
		return 0, err
	}
	if socketType == syscall.SOCK_STREAM {
		err = syscall.Listen(fd, backlog)
	}
	return fd, err
}

func (loop *serveLoop) add(fd int, kind kind) error {
	for len(loop.kinds) <= fd {
		loop.kinds = append(loop.kinds, unknown)
	}
	loop.kinds[fd] = kind
	event := syscall.EpollEvent{Events: eventsOf(kind), Fd: int32(fd)}
	return syscall.EpollCtl(loop.poll, syscall.EPOLL_CTL_ADD, fd, &event)
}

func eventsOf(kind kind) uint32 {
	switch kind {
	case sourceConnection:
		return syscall.EPOLLOUT | syscall.EPOLLRDHUP
	case muteConnection:
		return 0
	}
	return syscall.EPOLLIN
}

func (loop *serveLoop) run() error {
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

func (loop *serveLoop) handle(fd int, events uint32) error {
	switch loop.kinds[fd] {
	case echoListener:
		return loop.accept(fd, echoConnection)
	case sinkListener:
		return loop.accept(fd, sinkConnection)
	case sourceListener:
		return loop.accept(fd, sourceConnection)
	case muteListener:
		return loop.accept(fd, muteConnection)
	case datagrams:
		loop.sendBack(fd)
	case echoConnection:
		loop.answer(fd)
	case sinkConnection:
		loop.swallow(fd)
	case sourceConnection:
		loop.pour(fd, events)
	case muteConnection:
		// Only reported when the connection was reset.
		syscall.Close(fd)
	}
	return nil
}

func (loop *serveLoop) accept(listener int, kind kind) error {
	for {
		fd, _, err := syscall.Accept4(listener, syscall.SOCK_NONBLOCK)
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ECONNABORTED) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := loop.add(fd, kind); err != nil {
			return err
		}
	}
}

// The client sends a message whole, and waits for its answer before the next.
func (loop *serveLoop) answer(fd int) {
	message := loop.scratch[:messageBytes]
	count, err := syscall.Read(fd, message)
	if err != nil || count == 0 {
		syscall.Close(fd)
		return
	}
	// If the client has closed the connection already, the client counts the failure.
	_, _ = syscall.Write(fd, message[:count])
}

func (loop *serveLoop) swallow(fd int) {
	count, err := syscall.Read(fd, loop.scratch)
	if count == 0 || (err != nil && !errors.Is(err, syscall.EAGAIN)) {
		syscall.Close(fd)
	}
}

func (loop *serveLoop) pour(fd int, events uint32) {
	const ended = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	if events&ended != 0 {
		syscall.Close(fd)
		return
	}
	if _, err := syscall.Write(fd, sentBytes[:]); err != nil && !errors.Is(err, syscall.EAGAIN) {
		syscall.Close(fd)
	}
}

func (loop *serveLoop) sendBack(fd int) {
	for {
		count, from, err := syscall.Recvfrom(fd, loop.scratch[:messageBytes], 0)
		if err != nil {
			return
		}
		_ = syscall.Sendto(fd, loop.scratch[:count], 0, from)
	}
}
