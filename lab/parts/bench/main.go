// What the benchmark needs close to the kernel: a server, clients that count, a program that only
// writes the rules of one network namespace into another, one that reports when the kernel
// has committed rules with an address in them, one that floods a Service with datagrams from many
// addresses, and connections whose every byte is checked.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: bench serve | ask | copy | watch | flood | load | streams")
	}
	switch args[0] {
	case "serve":
		return serve(args[1:])
	case "ask":
		return ask(args[1:])
	case "copy":
		return copyRules(args[1:])
	case "watch":
		return watch(args[1:])
	case "flood":
		return flood(args[1:])
	case "load":
		return load(args[1:])
	case "streams":
		return streams(args[1:])
	}
	return fmt.Errorf("%q is none of serve, ask, copy, watch, flood, load, streams", args[0])
}

func printJSON(value any) error {
	return json.NewEncoder(os.Stdout).Encode(value)
}
