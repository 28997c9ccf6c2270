package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"time"
)

type flooded struct {
	Sent   int `json:"sent"`
	Failed int `json:"failed"`
}

const floodBurst = 100

// flood sends one datagram from each of many addresses, which must be local to the namespace.
func flood(args []string) error {
	flags := flag.NewFlagSet("flood", flag.ContinueOnError)
	to := flags.String("to", "", "address and port")
	from := flags.String("from", "", "the first IPv4 address; the others follow it")
	count := flags.Int("count", 1, "of addresses")
	perSecond := flags.Int("per-second", 10_000, "at most")
	if err := flags.Parse(args); err != nil {
		return err
	}
	target, err := net.ResolveUDPAddr("udp4", *to)
	if err != nil {
		return err
	}
	first := net.ParseIP(*from).To4()
	if first == nil {
		return fmt.Errorf("%q is no IPv4 address", *from)
	}
	var result flooded
	begun := time.Now()
	for index := range *count {
		source := make(net.IP, net.IPv4len)
		binary.BigEndian.PutUint32(source, binary.BigEndian.Uint32(first)+uint32(index))
		if err := sendOne(source, target); err != nil {
			result.Failed++
		} else {
			result.Sent++
		}
		if index%floodBurst == 0 {
			time.Sleep(time.Until(begun.Add(time.Duration(index) * time.Second / time.Duration(*perSecond))))
		}
	}
	return printJSON(result)
}

func sendOne(source net.IP, target *net.UDPAddr) error {
	socket, err := net.DialUDP("udp4", &net.UDPAddr{IP: source}, target)
	if err != nil {
		return err
	}
	defer socket.Close()
	_, err = socket.Write([]byte("x"))
	return err
}
