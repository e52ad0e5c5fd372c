// Which pieces of a cell last, which are run, and whose value is shown.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// A declaration lasts: each later cell is compiled together with it. Variables are set anew with every cell.
type declaration struct {
	// What it declares; a later declaration of one of the names takes its place.
	Names []string `json:"names"`
	Text  string   `json:"text"`
	// An import is written only where its name is used, as Go demands.
	Import bool `json:"import,omitempty"`
}

const show = `
func sandgateShow[T any](value T) {
	text := fmt.Sprintf("%#v", value)
	switch value := any(value).(type) {
	case string:
		text = fmt.Sprintf("%q", value)
	case error, fmt.Stringer, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64, complex64, complex128:
		text = fmt.Sprint(value)
	default:
		text = fmt.Sprintf("%+v", value)
	}
	sandgateJSON, _ := json.Marshal(map[string]any{"op": "result", "data": map[string]string{"text/plain": text}})
	_, _ = os.NewFile(4, "answers").Write(append(sandgateJSON, '\n'))
}
`

func compose(asked request) answer {
	if isWhole(asked.Code) {
		return answer{Program: asked.Code, Kept: asked.Kept}
	}
	pieces, err := split(asked.Code)
	if err != nil {
		return answer{Error: err.Error()}
	}
	kept := asked.Kept
	var statements []piece
	for _, one := range pieces {
		found, isDeclaration, err := declared(one)
		switch {
		case err != nil:
			return answer{Error: err.Error()}
		case isDeclaration:
			kept = replace(kept, found)
		default:
			statements = append(statements, one)
		}
	}
	result := answer{Kept: kept}
	value := ""
	if last := len(statements) - 1; last >= 0 && mayHaveValue(statements[last]) {
		value = statements[last].text
		result.Plain = program(kept, statements, "")
		statements = statements[:last]
	}
	result.Program = program(kept, statements, value)
	return result
}

// isWhole tells a program, which brings its own package and main, from pieces of one.
func isWhole(code string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "cell.go", code, parser.PackageClauseOnly)
	return err == nil && file.Name != nil
}

// declared reads a piece as a declaration, if it is one.
func declared(one piece) ([]declaration, bool, error) {
	text := one.text
	switch one.first {
	case token.IMPORT, token.TYPE, token.CONST, token.VAR:
	case token.FUNC:
		// `func() { … }()` is a statement.
		if _, err := parser.ParseExpr(text); err == nil {
			return nil, false, nil
		}
	case token.IDENT:
		made, ok := shortVariables(text)
		if !ok {
			return nil, false, nil
		}
		text = made
	default:
		return nil, false, nil
	}
	place := fmt.Sprintf("package p\n//line cell.go:%d\n%s\n", one.line, text)
	file, err := parser.ParseFile(token.NewFileSet(), "cell.go", place, 0)
	if err != nil {
		return nil, true, err
	}
	var found []declaration
	for _, decl := range file.Decls {
		found = append(found, named(decl, fmt.Sprintf("//line cell.go:%d\n%s", one.line, text))...)
	}
	return found, true, nil
}

// shortVariables makes `var a, b = …` of `a, b := …`, which has no place outside of functions.
func shortVariables(text string) (string, bool) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+text+"\n}", 0)
	if err != nil || len(file.Decls) != 1 {
		return "", false
	}
	body := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(body) != 1 {
		return "", false
	}
	assign, ok := body[0].(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE {
		return "", false
	}
	at := strings.Index(text, ":=")
	return "var " + text[:at] + "=" + text[at+2:], at > 0
}

func named(decl ast.Decl, text string) []declaration {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil && len(decl.Recv.List) > 0 {
			name = receiver(decl.Recv.List[0].Type) + "." + name
		}
		return []declaration{{Names: []string{name}, Text: text}}
	case *ast.GenDecl:
		if decl.Tok == token.IMPORT {
			return imports(decl)
		}
		var names []string
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
		return []declaration{{Names: names, Text: text}}
	}
	return nil
}

func receiver(kind ast.Expr) string {
	switch kind := kind.(type) {
	case *ast.StarExpr:
		return receiver(kind.X)
	case *ast.IndexExpr:
		return receiver(kind.X)
	case *ast.IndexListExpr:
		return receiver(kind.X)
	case *ast.Ident:
		return kind.Name
	}
	return ""
}

func imports(decl *ast.GenDecl) []declaration {
	var found []declaration
	for _, spec := range decl.Specs {
		spec := spec.(*ast.ImportSpec)
		path := strings.Trim(spec.Path.Value, "`\"")
		name := path[strings.LastIndex(path, "/")+1:]
		text := "import " + spec.Path.Value
		if spec.Name != nil {
			name = spec.Name.Name
			text = "import " + name + " " + spec.Path.Value
		}
		found = append(found, declaration{Names: []string{"import " + name}, Text: text, Import: true})
	}
	return found
}

// replace puts new declarations in the place of those that had one of their names.
func replace(kept, fresh []declaration) []declaration {
	taken := map[string]bool{}
	for _, one := range fresh {
		for _, name := range one.Names {
			taken[name] = name != "_"
		}
	}
	var all []declaration
	for _, old := range kept {
		clash := false
		for _, name := range old.Names {
			clash = clash || taken[name]
		}
		if !clash {
			all = append(all, old)
		}
	}
	return append(all, fresh...)
}

// mayHaveValue tells whether a piece is an expression whose value somebody may want to see.
func mayHaveValue(one piece) bool {
	expression, err := parser.ParseExpr(one.text)
	if err != nil {
		return false
	}
	call, isCall := expression.(*ast.CallExpr)
	if !isCall {
		return true
	}
	switch function := call.Fun.(type) {
	case *ast.Ident:
		switch function.Name {
		case "panic", "print", "println", "close", "delete", "copy", "clear":
			return false
		}
	case *ast.SelectorExpr:
		if of, ok := function.X.(*ast.Ident); ok && (of.Name == "fmt" || of.Name == "log") {
			return !strings.Contains(function.Sel.Name, "rint") || strings.HasPrefix(function.Sel.Name, "Sprint")
		}
	}
	return true
}
