// A cell cut into its statements and declarations.

package main

import (
	"go/scanner"
	"go/token"
	"strings"
)

// A piece is what stands between two semicolons, written or implied, outside of all brackets.
type piece struct {
	text string
	line int
	// Its first two tokens, which tell a declaration from a statement.
	first, second token.Token
}

// split cuts a cell into pieces. Comments between pieces are dropped, those within stay.
func split(code string) ([]piece, error) {
	files := token.NewFileSet()
	file := files.AddFile("cell.go", -1, len(code))
	var problems scanner.ErrorList
	var scan scanner.Scanner
	scan.Init(file, []byte(code), func(at token.Position, message string) { problems.Add(at, message) }, 0)
	var pieces []piece
	depth, start := 0, -1
	var current piece
	seen := 0
	for {
		at, kind, literal := scan.Scan()
		offset := file.Offset(at)
		if kind == token.EOF {
			break
		}
		if kind == token.SEMICOLON && depth <= 0 {
			if start >= 0 {
				current.text = strings.TrimSpace(code[start:offset])
				pieces = append(pieces, current)
			}
			start, seen, current = -1, 0, piece{}
			continue
		}
		if start < 0 {
			start = offset
			current.line = file.Line(at)
		}
		switch seen {
		case 0:
			current.first = kind
		case 1:
			current.second = kind
		}
		seen++
		switch kind {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		}
		_ = literal
	}
	if start >= 0 {
		current.text = strings.TrimSpace(code[start:])
		pieces = append(pieces, current)
	}
	problems.RemoveMultiples()
	return pieces, problems.Err()
}
