package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

type copied struct {
	Milliseconds float64 `json:"milliseconds"`
	CPUSeconds   float64 `json:"cpuSeconds"`
	Messages     int     `json:"messages"`
	Bytes        int     `json:"bytes"`
	Transactions int     `json:"transactions"`
}

// copyRules reads every nftables object of one network namespace, and then writes the same into
// another. Only the writing is timed, with all its bytes ready before it begins: the result is
// the time of the kernel alone.
func copyRules(args []string) error {
	flags := flag.NewFlagSet("copy", flag.ContinueOnError)
	from := flags.String("from", "", "path of the namespace to read")
	to := flags.String("to", "", "path of the namespace to write; it should have no rules")
	most := flags.Int("transaction-bytes", 1024*1024, "most bytes of a transaction")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.LockOSThread()
	source, err := openIn(*from)
	if err != nil {
		return err
	}
	objects, err := source.readAll()
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	batches := batchesOf(objects, *most)
	target, err := openIn(*to)
	if err != nil {
		return err
	}
	result := copied{Messages: len(objects), Transactions: len(batches)}
	cpuBefore := ownCPUSeconds()
	begun := time.Now()
	for _, batch := range batches {
		if err := target.commit(batch); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		result.Bytes += len(batch)
	}
	result.Milliseconds = float64(time.Since(begun).Nanoseconds()) / 1e6
	result.CPUSeconds = ownCPUSeconds() - cpuBefore
	return printJSON(result)
}

const cloneNewNet = 0x4000_0000

func openIn(namespace string) (*netlink, error) {
	file, err := os.Open(namespace)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, _, errno := syscall.RawSyscall(setnsNumbers[runtime.GOARCH], file.Fd(), cloneNewNet, 0); errno != 0 {
		return nil, fmt.Errorf("entering %s: %w", namespace, errno)
	}
	return openNetlink()
}

// readAll gives requests that make everything anew, in an order in which each finds what it names.
func (netlink *netlink) readAll() ([][]byte, error) {
	var all [][]byte
	for _, kind := range []objectKind{tables, chains, namedObjects, sets} {
		found, err := netlink.dump(kind, nil, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		for index, message := range found {
			all = append(all, kind.creation(message, uint32(index+1)))
		}
		if kind.name != sets.name {
			continue
		}
		for _, message := range found {
			elements, err := netlink.elementsOf(message)
			if err != nil {
				return nil, err
			}
			all = append(all, elements...)
		}
	}
	found, err := netlink.dump(rules, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	for _, message := range found {
		if !needsAccounting(message) {
			all = append(all, rules.creation(message, 0))
		}
	}
	return all, nil
}

const (
	setFlagsAttribute       = 3
	setExpressionAttribute  = 17
	setExpressionsAttribute = 18
	// Elements of dynamic sets are added by packets, not by the writer of the rules.
	setIsDynamic = 0x10
)

func (netlink *netlink) elementsOf(set []byte) ([][]byte, error) {
	attributes := attributesOf(set)
	if flags, ok := attributes[setFlagsAttribute]; ok && flags[3]&setIsDynamic != 0 {
		return nil, nil
	}
	question := append(attribute(1, attributes[1]), attribute(2, attributes[2])...)
	found, err := netlink.dump(elements, question, set[headerBytes])
	if err != nil {
		return nil, fmt.Errorf("elements of %s: %w", attributes[2], err)
	}
	kind := elements
	if attributes[setExpressionAttribute] != nil || attributes[setExpressionsAttribute] != nil {
		kind = countedElements
	}
	var all [][]byte
	for _, message := range found {
		if _, ok := attributesOf(message)[elementList]; ok {
			all = append(all, kind.creation(message, 0))
		}
	}
	return all, nil
}
