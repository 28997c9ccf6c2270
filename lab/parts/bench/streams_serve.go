package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// What a side counts, by the way in which the connections were to end.
type streamCounts struct {
	Right  map[string]int `json:"right"`
	Wrong  map[string]int `json:"wrong"`
	Faults []string       `json:"faults"`
	// Connections that ended before the server knew how they were to end: the client reset them.
	WithoutHead int   `json:"withoutHead,omitempty"`
	Bytes       int64 `json:"bytes"`
	lock        sync.Mutex
}

const mostFaults = 20

func newStreamCounts() *streamCounts {
	return &streamCounts{Right: map[string]int{}, Wrong: map[string]int{}, Faults: []string{}}
}

func (counts *streamCounts) note(head head, bytes int64, fault error) {
	counts.lock.Lock()
	defer counts.lock.Unlock()
	counts.Bytes += bytes
	name := endingNames[head.ending]
	if fault == nil {
		counts.Right[name]++
		return
	}
	counts.Wrong[name]++
	if len(counts.Faults) < mostFaults {
		text := fmt.Sprintf("%s, seed %d, %d there, %d back: %v", name, head.seed, head.there, head.back, fault)
		counts.Faults = append(counts.Faults, text)
	}
}

func (counts *streamCounts) print() error {
	counts.lock.Lock()
	defer counts.lock.Unlock()
	return printJSON(counts)
}

// serveStreams says "serving" when it does, and what it counted when it gets SIGTERM.
func serveStreams(args []string) error {
	flags := flag.NewFlagSet("streams serve", flag.ContinueOnError)
	port := flags.Int("port", 9100, "TCP port of every address")
	deadline := flags.Duration("deadline", 60*time.Second, "of one connection")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{Port: *port})
	if err != nil {
		return err
	}
	counts := newStreamCounts()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ended
		listener.Close()
	}()
	fmt.Println("serving")
	for {
		connection, err := listener.AcceptTCP()
		if err != nil {
			return counts.print()
		}
		go serveStream(connection, *deadline, counts)
	}
}

func serveStream(connection *net.TCPConn, deadline time.Duration, counts *streamCounts) {
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(deadline))
	// If the client is gone already, reading fails too.
	_, _ = connection.Write(banner)
	head, err := readHead(connection)
	if err != nil {
		counts.lock.Lock()
		counts.WithoutHead++
		counts.lock.Unlock()
		return
	}
	side := newSide(connection, head, serverResets)
	err = side.serve(head)
	counts.note(head, side.moved.Load(), err)
}

func (side *streamSide) serve(head head) error {
	receive := func() error { return side.receive(head.seed, int(head.there)) }
	receiveAll := func() error {
		if err := receive(); err != nil {
			return err
		}
		return side.expectEnd()
	}
	send := func() error { return side.send(head.backSeed(), int(head.back)) }
	switch head.ending {
	case clientEnds:
		if err := receiveAll(); err != nil {
			return err
		}
		if err := send(); err != nil {
			return err
		}
	case serverEnds:
		return firstOf(both(receiveAll, func() error {
			if err := send(); err != nil {
				return err
			}
			return side.connection.CloseWrite()
		}))
	case clientResets:
		return side.expectReset(both(receive, send))
	case serverResets:
		// What the client sent and this side did not read does not matter: it resets.
		_, _ = both(receive, send)
		_ = side.reset()
		return nil
	default:
		if err := firstOf(both(receiveAll, send)); err != nil {
			return err
		}
	}
	_, err := side.connection.Write(verdict)
	return err
}

func firstOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func readExactly(from io.Reader, expected []byte, what string) error {
	found := make([]byte, len(expected))
	if _, err := io.ReadFull(from, found); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if string(found) != string(expected) {
		return fmt.Errorf("%s: other bytes", what)
	}
	return nil
}
