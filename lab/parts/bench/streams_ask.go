package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Most streams are short, so that there are many; every fourth may have the most bytes.
const usualBytes = 20_000

// What is sent at once fits into one segment of the loopback, head included.
const atOnceBytes = 9_000

type asker struct {
	to       string
	most     int
	pauseMs  int
	deadline time.Duration
	seed     uint64
	counts   *streamCounts
}

func askStreams(args []string) error {
	flags := flag.NewFlagSet("streams ask", flag.ContinueOnError)
	to := flags.String("to", "", "address:port")
	connections := flags.Int64("connections", 1000, "to open")
	workers := flags.Int("workers", 32, "connections at once")
	most := flags.Int("most-bytes", 300_000, "of one stream")
	pause := flags.Duration("pause", 0, "each side is idle once for at most so long")
	deadline := flags.Duration("deadline", 60*time.Second, "of one connection")
	seed := flags.Uint64("seed", 1, "of everything that is random")
	if err := flags.Parse(args); err != nil {
		return err
	}
	asker := asker{*to, *most, int(pause.Milliseconds()), *deadline, *seed, newStreamCounts()}
	var next atomic.Int64
	var busy sync.WaitGroup
	for range *workers {
		busy.Go(func() {
			for index := next.Add(1); index <= *connections; index = next.Add(1) {
				asker.ask(uint64(index))
			}
		})
	}
	busy.Wait()
	return asker.counts.print()
}

func (asker asker) headOf(random *rand.Rand) head {
	most := usualBytes
	if random.IntN(4) == 0 {
		most = asker.most
	}
	head := head{
		seed:    random.Uint64() >> 2,
		there:   uint32(1 + random.IntN(most)),
		back:    uint32(1 + random.IntN(most)),
		ending:  ending(random.IntN(int(endingCount))),
		pauseMs: uint32(asker.pauseMs),
	}
	if head.ending == atOnce {
		head.there = uint32(1 + random.IntN(atOnceBytes))
	}
	return head
}

func (asker asker) ask(index uint64) {
	random := rand.New(rand.NewPCG(asker.seed, index))
	head := asker.headOf(random)
	dialed, err := net.DialTimeout("tcp", asker.to, asker.deadline)
	if err != nil {
		asker.counts.note(head, 0, err)
		return
	}
	connection := dialed.(*net.TCPConn)
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(asker.deadline))
	side := newSide(connection, head, clientResets)
	err = side.ask(head, random.IntN(2) == 0)
	asker.counts.note(head, side.moved.Load(), err)
}

// greet sends the head and reads the banner, in either order.
func (side *streamSide) greet(head head, isFirst bool) error {
	first := head.encode()
	if head.ending == atOnce {
		body := make([]byte, head.there)
		fill(body, head.seed, 0)
		first = append(first, body...)
	}
	readBanner := func() error { return readExactly(side.connection, banner, "banner") }
	if !isFirst && head.ending != atOnce {
		if err := readBanner(); err != nil {
			return err
		}
	}
	if _, err := side.connection.Write(first); err != nil {
		return fmt.Errorf("head: %w", err)
	}
	if head.ending == atOnce {
		if err := side.connection.CloseWrite(); err != nil {
			return err
		}
	}
	if isFirst || head.ending == atOnce {
		return readBanner()
	}
	return nil
}

func (side *streamSide) ask(head head, isFirst bool) error {
	if err := side.greet(head, isFirst); err != nil {
		// The reset may overtake the banner.
		if head.ending == serverResets {
			return side.expectReset(err)
		}
		return err
	}
	receive := func() error { return side.receive(head.backSeed(), int(head.back)) }
	send := func() error { return side.send(head.seed, int(head.there)) }
	sendAll := func() error {
		if err := send(); err != nil {
			return err
		}
		return side.connection.CloseWrite()
	}
	switch head.ending {
	case clientResets:
		_, _ = both(receive, send)
		_ = side.reset()
		return nil
	case serverResets:
		return side.expectReset(both(receive, send))
	case serverEnds:
		return side.outlast(receive, send)
	case atOnce:
		if err := receive(); err != nil {
			return err
		}
	default:
		if err := firstOf(both(receive, sendAll)); err != nil {
			return err
		}
	}
	if err := readExactly(side.connection, verdict, "verdict of the server"); err != nil {
		return err
	}
	return side.expectEnd()
}

// outlast ends this side's stream only after that of the server.
func (side *streamSide) outlast(receive, send func() error) error {
	err := firstOf(both(func() error {
		if err := receive(); err != nil {
			return err
		}
		return side.expectEnd()
	}, send))
	if err != nil {
		return err
	}
	return side.connection.CloseWrite()
}
