package main

import (
	"bytes"
	"encoding/binary"
)

// An objectKind says how an object in a dump becomes a request that creates it again.
type objectKind struct {
	name     string
	creates  uint16
	dumps    uint16
	requests uint16
	// Attributes of the dump that a request must not have: handles, counts, what the kernel chose.
	omit []uint16
	// The same of each element of a list.
	omitOfElements []uint16
	// Of sets, which need a number that is theirs within the transaction.
	idAttribute uint16
}

const (
	ruleExpressions = 4
	ruleCompat      = 5
	setFlags        = 3
	elementList     = 3
	anonymousConst  = 0x3
)

var (
	tables   = objectKind{name: "tables", creates: 0, dumps: 1, omit: []uint16{3, 4, 7}}
	chains   = objectKind{name: "chains", creates: 3, dumps: 4, omit: []uint16{2, 6, 8, 11}}
	rules    = objectKind{name: "rules", creates: 6, dumps: 7, omit: []uint16{3, 6}, requests: flagAppend}
	sets     = objectKind{name: "sets", creates: 9, dumps: 10, omit: []uint16{16, 19, 20}, idAttribute: 10}
	elements = objectKind{name: "elements", creates: 12, dumps: 13, omitOfElements: []uint16{5, 8}}
	// For a set with a counter expression: the kernel adds it to elements that come without.
	countedElements = objectKind{name: "elements", creates: 12, dumps: 13, omitOfElements: []uint16{5, 7, 8, 11}}
	namedObjects    = objectKind{name: "objects", creates: 18, dumps: 19, omit: []uint16{5, 6}}
)

func (kind objectKind) creation(dumped []byte, id uint32) []byte {
	family := dumped[headerBytes]
	body := []byte{family, 0, 0, 0}
	var compat []byte
	eachAttribute(dumped[headerBytes+familyBytes:], func(number uint16, value []byte) {
		if contains(kind.omit, number) {
			return
		}
		if kind.name == sets.name && number == setFlags {
			value = binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(value)&^anonymousConst)
		}
		if kind.omitOfElements != nil && number == elementList {
			value = kind.trimmed(value)
		}
		if kind.name == rules.name && number == ruleExpressions {
			compat = compatOf(value)
		}
		body = append(body, attribute(number, value)...)
	})
	if compat != nil {
		body = append(body, attribute(ruleCompat, compat)...)
	}
	if kind.idAttribute != 0 {
		body = append(body, attribute(kind.idAttribute, binary.BigEndian.AppendUint32(nil, id))...)
	}
	return message(nftables|kind.creates, flagRequest|flagCreate|kind.requests, body)
}

func (kind objectKind) trimmed(list []byte) []byte {
	var all []byte
	eachAttribute(list, func(number uint16, element []byte) {
		var rest []byte
		eachAttribute(element, func(part uint16, value []byte) {
			if !contains(kind.omitOfElements, part) {
				rest = append(rest, attribute(part, value)...)
			}
		})
		all = append(all, attribute(number, rest)...)
	})
	return all
}

// An iptables match for one protocol needs the protocol of the rule, which the kernel does not
// include in a dump.
func compatOf(expressions []byte) []byte {
	protocols := map[string]uint32{"tcp": 6, "udp": 17, "sctp": 132}
	var protocol uint32
	for _, name := range matchesIn(expressions) {
		if found, ok := protocols[name]; ok {
			protocol = found
		}
	}
	if protocol == 0 {
		return nil
	}
	return append(
		attribute(1, binary.BigEndian.AppendUint32(nil, protocol)),
		attribute(2, binary.BigEndian.AppendUint32(nil, 0))...,
	)
}

// Rules that count in an accounting object of the namespace cannot be copied without it.
func needsAccounting(rule []byte) bool {
	for _, name := range matchesIn(attributesOf(rule)[ruleExpressions]) {
		if name == "nfacct" {
			return true
		}
	}
	return false
}

func matchesIn(expressions []byte) []string {
	var names []string
	eachAttribute(expressions, func(_ uint16, expression []byte) {
		parts := parse(expression)
		if bytes.Equal(parts[1], []byte("match\x00")) {
			names = append(names, string(bytes.TrimRight(parse(parts[2])[1], "\x00")))
		}
	})
	return names
}

func contains(all []uint16, one uint16) bool {
	for _, each := range all {
		if each == one {
			return true
		}
	}
	return false
}

// batchesOf puts requests into transactions.
func batchesOf(requests [][]byte, most int) [][]byte {
	var batches [][]byte
	var batch []byte
	for index, request := range requests {
		if batch == nil {
			batch = message(batchBegin, flagRequest, batchOfNftables)
		}
		isLast := index == len(requests)-1 || len(batch)+len(request) >= most
		if isLast {
			// The kernel answers it when it has committed.
			binary.LittleEndian.PutUint16(request[6:], binary.LittleEndian.Uint16(request[6:])|flagAcknowledge)
		}
		batch = append(batch, request...)
		if isLast {
			batches = append(batches, append(batch, message(batchEnd, flagRequest, batchOfNftables)...))
			batch = nil
		}
	}
	return batches
}
