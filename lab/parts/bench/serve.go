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

// serve answers every 64 bytes with 64 bytes on one TCP port, swallows what comes on another, and
// sends datagrams back. One loop for each CPU, with sockets of its own: nothing is shared.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	echoPort := flags.Int("echo-port", 9000, "TCP and UDP port that answers")
	sinkPort := flags.Int("sink-port", 9001, "TCP port that only reads")
	if err := flags.Parse(args); err != nil {
		return err
	}
	failed := make(chan error)
	for range runtime.NumCPU() {
		loop, err := newServeLoop(*echoPort, *sinkPort)
		if err != nil {
			return err
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
	echoConnection
	sinkConnection
)

type serveLoop struct {
	poll    int
	kinds   []kind
	scratch []byte
}

func newServeLoop(echoPort, sinkPort int) (*serveLoop, error) {
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return nil, err
	}
	loop := &serveLoop{poll: poll, scratch: make([]byte, sinkBytes)}
	for _, wanted := range []struct {
		kind       kind
		socketType int
		port       int
	}{
		{echoListener, syscall.SOCK_STREAM, echoPort},
		{sinkListener, syscall.SOCK_STREAM, sinkPort},
		{datagrams, syscall.SOCK_DGRAM, echoPort},
	} {
		fd, err := bound(wanted.socketType, wanted.port)
		if err != nil {
			return nil, fmt.Errorf("port %d: %w", wanted.port, err)
		}
		if err := loop.add(fd, wanted.kind); err != nil {
			return nil, err
		}
	}
	return loop, nil
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
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
	return syscall.EpollCtl(loop.poll, syscall.EPOLL_CTL_ADD, fd, &event)
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
			if err := loop.handle(int(event.Fd)); err != nil {
				return err
			}
		}
	}
}

func (loop *serveLoop) handle(fd int) error {
	switch loop.kinds[fd] {
	case echoListener:
		return loop.accept(fd, echoConnection)
	case sinkListener:
		return loop.accept(fd, sinkConnection)
	case datagrams:
		loop.sendBack(fd)
	case echoConnection:
		loop.answer(fd)
	case sinkConnection:
		loop.swallow(fd)
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

func (loop *serveLoop) sendBack(fd int) {
	for {
		count, from, err := syscall.Recvfrom(fd, loop.scratch[:messageBytes], 0)
		if err != nil {
			return
		}
		_ = syscall.Sendto(fd, loop.scratch[:count], 0, from)
	}
}
