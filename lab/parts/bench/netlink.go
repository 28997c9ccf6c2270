package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

const (
	netlinkNetfilter  = 12
	soSendBufferForce = 32
	sendBufferBytes   = 32 * 1024 * 1024
	headerBytes       = 16
	familyBytes       = 4
	attributeBytes    = 4

	nftables   = 10 << 8
	batchBegin = 0x10
	batchEnd   = 0x11

	flagRequest     = 0x1
	flagAcknowledge = 0x4
	flagDump        = 0x300
	flagCreate      = 0x400
	flagAppend      = 0x800

	messageError = 2
	messageDone  = 3
)

// Package syscall has no name for it.
var setnsNumbers = map[string]uintptr{"amd64": 308, "arm64": 268}

var batchOfNftables = []byte{0, 0, 0, nftables >> 8}

type netlink struct{ fd int }

func openNetlink() (*netlink, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW, netlinkNetfilter)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, soSendBufferForce, sendBufferBytes); err != nil {
		return nil, err
	}
	return &netlink{fd}, syscall.Bind(fd, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK})
}

func (netlink *netlink) dump(kind objectKind, question []byte, family byte) ([][]byte, error) {
	body := append([]byte{family, 0, 0, 0}, question...)
	if err := netlink.send(message(nftables|kind.dumps, flagRequest|flagDump, body)); err != nil {
		return nil, err
	}
	var found [][]byte
	buffer := make([]byte, 1024*1024)
	for {
		count, _, err := syscall.Recvfrom(netlink.fd, buffer, 0)
		if err != nil {
			return nil, err
		}
		isDone, err := eachMessage(buffer[:count], func(each []byte) {
			found = append(found, append([]byte(nil), each...))
		})
		if isDone || err != nil {
			return found, err
		}
	}
}

// commit sends one transaction. The kernel has done all of it when the call ends.
func (netlink *netlink) commit(batch []byte) error {
	if err := netlink.send(batch); err != nil {
		return err
	}
	buffer := make([]byte, 64*1024)
	for {
		count, _, err := syscall.Recvfrom(netlink.fd, buffer, syscall.MSG_DONTWAIT)
		if errors.Is(err, syscall.EAGAIN) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := eachMessage(buffer[:count], func([]byte) {}); err != nil {
			return err
		}
	}
}

func (netlink *netlink) send(bytes []byte) error {
	return syscall.Sendto(netlink.fd, bytes, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK})
}

func eachMessage(received []byte, visit func([]byte)) (isDone bool, err error) {
	for len(received) >= headerBytes {
		length := int(binary.LittleEndian.Uint32(received))
		switch binary.LittleEndian.Uint16(received[4:]) {
		case messageDone:
			return true, nil
		case messageError:
			code := int32(binary.LittleEndian.Uint32(received[headerBytes:]))
			if code != 0 {
				kind := binary.LittleEndian.Uint16(received[headerBytes+8:])
				return true, fmt.Errorf("the kernel rejects message %#x: %w", kind, syscall.Errno(-code))
			}
		default:
			visit(received[:length])
		}
		received = received[min(align(length), len(received)):]
	}
	return false, nil
}

func message(kind, flags uint16, body []byte) []byte {
	bytes := make([]byte, headerBytes, headerBytes+len(body))
	binary.LittleEndian.PutUint32(bytes, uint32(headerBytes+len(body)))
	binary.LittleEndian.PutUint16(bytes[4:], kind)
	binary.LittleEndian.PutUint16(bytes[6:], flags)
	return append(bytes, body...)
}

func attribute(number uint16, value []byte) []byte {
	bytes := make([]byte, attributeBytes, align(attributeBytes+len(value)))
	binary.LittleEndian.PutUint16(bytes, uint16(attributeBytes+len(value)))
	binary.LittleEndian.PutUint16(bytes[2:], number)
	bytes = append(bytes, value...)
	return append(bytes, make([]byte, align(len(value))-len(value))...)
}

const (
	numberMask = 0x3fff
	alignment  = 4
)

func eachAttribute(bytes []byte, visit func(number uint16, value []byte)) {
	for len(bytes) >= attributeBytes {
		length := int(binary.LittleEndian.Uint16(bytes))
		visit(binary.LittleEndian.Uint16(bytes[2:])&numberMask, bytes[attributeBytes:length])
		bytes = bytes[min(align(length), len(bytes)):]
	}
}

func parse(bytes []byte) map[uint16][]byte {
	found := map[uint16][]byte{}
	eachAttribute(bytes, func(number uint16, value []byte) { found[number] = value })
	return found
}

func attributesOf(dumped []byte) map[uint16][]byte {
	return parse(dumped[headerBytes+familyBytes:])
}

func align(length int) int { return (length + alignment - 1) &^ (alignment - 1) }
