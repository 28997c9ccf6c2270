package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// streams serves or opens connections whose every byte in both directions is checked, and which end
// in one of six ways.
func streams(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "serve":
			return serveStreams(args[1:])
		case "ask":
			return askStreams(args[1:])
		}
	}
	return errors.New("usage: bench streams serve | ask")
}

type ending uint32

const (
	// The client ends its stream; the server answers only after that.
	clientEnds ending = iota
	// The server ends its stream; the client ends its own only after that.
	serverEnds
	// Half way through, one side resets the connection. The other must see a reset.
	clientResets
	serverResets
	// The client sends everything and its end at once.
	atOnce
	// Both read and write slowly.
	slow
	endingCount
)

var endingNames = [endingCount]string{
	"client-ends", "server-ends", "client-resets", "server-resets", "at-once", "slow",
}

// The server sends the banner as soon as it is connected, so that both sides speak first.
var banner = []byte("the server first")

// Sent by the server when everything it received was right.
var verdict = []byte("all right")

const (
	headBytes       = 28
	mostChunkBytes  = 64 * 1024
	smallChunkBytes = 2000
	slowestPause    = 3 * time.Millisecond
)

// head is what the client sends first.
type head struct {
	seed        uint64
	there, back uint32
	ending      ending
	// Each side stops once in its stream, for at most so long: the connection is then idle.
	pauseMs uint32
}

func (head head) encode() []byte {
	bytes := binary.LittleEndian.AppendUint64(nil, head.seed)
	for _, field := range []uint32{head.there, head.back, uint32(head.ending), head.pauseMs} {
		bytes = binary.LittleEndian.AppendUint32(bytes, field)
	}
	return binary.LittleEndian.AppendUint32(bytes, checksum(bytes))
}

func checksum(bytes []byte) uint32 {
	sum := uint64(len(bytes))
	for _, each := range bytes {
		sum = mix(sum + uint64(each))
	}
	return uint32(sum)
}

func readHead(from io.Reader) (head, error) {
	var bytes [headBytes]byte
	if _, err := io.ReadFull(from, bytes[:]); err != nil {
		return head{}, err
	}
	field := func(index int) uint32 { return binary.LittleEndian.Uint32(bytes[8+4*index:]) }
	decoded := head{binary.LittleEndian.Uint64(bytes[:]), field(0), field(1), ending(field(2)), field(3)}
	if checksum(bytes[:headBytes-4]) != field(4) || decoded.ending >= endingCount {
		return head{}, errors.New("the head of the stream is wrong")
	}
	return decoded, nil
}

// backSeed is that of the stream from the server to the client.
func (head head) backSeed() uint64 { return head.seed + 1<<40 }

func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// fill writes what a stream holds from an offset on.
func fill(bytes []byte, seed uint64, offset int) {
	for index := range bytes {
		at := offset + index
		if at%8 == 0 && index+8 <= len(bytes) {
			break
		}
		bytes[index] = byte(mix(seed+uint64(at/8)) >> (8 * (at % 8)))
	}
	start := (8 - offset%8) % 8
	for start+8 <= len(bytes) {
		binary.LittleEndian.PutUint64(bytes[start:], mix(seed+uint64((offset+start)/8)))
		start += 8
	}
	for index := min(start, len(bytes)); index < len(bytes); index++ {
		at := offset + index
		bytes[index] = byte(mix(seed+uint64(at/8)) >> (8 * (at % 8)))
	}
}

// One side of a connection.
type streamSide struct {
	connection *net.TCPConn
	random     *rand.Rand
	isSlow     bool
	pause      time.Duration
	// Bytes sent and received after which this side resets the connection; 0: never.
	resetAt int64
	moved   atomic.Int64
}

var errReset = errors.New("reset by this side")

func newSide(connection *net.TCPConn, head head, resets ending) *streamSide {
	side := &streamSide{
		connection: connection,
		random:     rand.New(rand.NewPCG(head.seed, uint64(resets))),
		isSlow:     head.ending == slow,
	}
	if head.pauseMs > 0 {
		side.pause = time.Duration(side.random.IntN(int(head.pauseMs))) * time.Millisecond
	}
	if head.ending == resets {
		side.resetAt = (int64(head.there)+int64(head.back))/2 + 1
	}
	return side
}

// count fails when enough was moved for a reset, and then the connection has been reset.
func (side *streamSide) count(bytes int) error {
	moved := side.moved.Add(int64(bytes))
	if side.resetAt == 0 || moved < side.resetAt {
		return nil
	}
	return side.reset()
}

func (side *streamSide) reset() error {
	// The other goroutine may have closed it.
	_ = side.connection.SetLinger(0)
	_ = side.connection.Close()
	return errReset
}

func (side *streamSide) send(seed uint64, length int) error {
	random := rand.New(rand.NewPCG(seed, uint64(length)))
	chunk := make([]byte, min(length, mostChunkBytes))
	pauseAt := random.IntN(length + 1)
	for sent := 0; sent < length; {
		most := smallChunkBytes
		if random.IntN(3) == 0 {
			most = mostChunkBytes
		}
		part := chunk[:min(1+random.IntN(most), length-sent)]
		fill(part, seed, sent)
		if side.pause > 0 && sent <= pauseAt && pauseAt < sent+len(part) {
			time.Sleep(side.pause)
		}
		side.dawdle(random)
		if _, err := side.connection.Write(part); err != nil {
			return err
		}
		sent += len(part)
		if err := side.count(len(part)); err != nil {
			return err
		}
	}
	return nil
}

// receive reads exactly the bytes of a stream, and not what follows them.
func (side *streamSide) receive(seed uint64, length int) error {
	random := rand.New(rand.NewPCG(seed, uint64(length)+1))
	found, expected := make([]byte, mostChunkBytes), make([]byte, mostChunkBytes)
	for received := 0; received < length; {
		side.dawdle(random)
		count, err := side.connection.Read(found[:min(1+random.IntN(mostChunkBytes), length-received)])
		fill(expected[:count], seed, received)
		if string(found[:count]) != string(expected[:count]) {
			return fmt.Errorf("wrong bytes between %d and %d of %d", received, received+count, length)
		}
		received += count
		if err == io.EOF {
			return fmt.Errorf("ended after %d of %d bytes", received, length)
		}
		if err != nil {
			return err
		}
		if err := side.count(count); err != nil {
			return err
		}
	}
	return nil
}

func (side *streamSide) dawdle(random *rand.Rand) {
	if side.isSlow && random.IntN(4) == 0 {
		time.Sleep(time.Duration(random.Int64N(int64(slowestPause))))
	}
}

func (side *streamSide) expectEnd() error {
	var more [1]byte
	count, err := side.connection.Read(more[:])
	if count > 0 {
		return errors.New("more bytes than were sent")
	}
	if err != io.EOF {
		return fmt.Errorf("no end of the stream: %w", err)
	}
	return nil
}

// both runs both, and gives the errors of both.
func both(first, second func() error) (error, error) {
	other := make(chan error)
	go func() { other <- second() }()
	err := first()
	return err, <-other
}

// A reset is reported to one of two concurrent calls as ECONNRESET; another write gets EPIPE, and
// another read the end.
func isReset(errs ...error) bool {
	for _, err := range errs {
		if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
			return true
		}
	}
	return false
}

// expectReset is nil when one of the errors of a side says that the other side reset the connection.
func (side *streamSide) expectReset(errs ...error) error {
	if isReset(errs...) {
		return nil
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("no reset: %w", err)
	}
	if err := side.expectEnd(); !isReset(err) {
		return fmt.Errorf("no reset, but: %w", errors.Join(err, errors.New("the stream goes on or ends")))
	}
	return nil
}
