// Gocell makes one Go program of a cell and of what earlier cells declared. It reads a request from standard input
// and writes the program, or what is wrong with the cell, to standard output; both are JSON. It runs nothing itself.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type request struct {
	Code string `json:"code"`
	// What earlier cells declared, as this program gave it back.
	Kept []declaration `json:"kept"`
}

type answer struct {
	// The program as one file; empty when the cell cannot be read.
	Program string `json:"program,omitempty"`
	// The same with the last expression as a statement, where it may have no value.
	Plain string `json:"plain,omitempty"`
	// What is declared once this cell has been compiled.
	Kept  []declaration `json:"kept,omitempty"`
	Error string        `json:"error,omitempty"`
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, "gocell:", err)
		os.Exit(2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(compose(asked)); err != nil {
		fmt.Fprintln(os.Stderr, "gocell:", err)
		os.Exit(2)
	}
}
