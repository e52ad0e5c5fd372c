// One Go file of what is kept and what is to run, with the imports it uses.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"
)

// program writes one file: the imports in use, what is kept, and a main of the statements.
func program(kept []declaration, statements []piece, value string) string {
	var body strings.Builder
	for _, one := range kept {
		if !one.Import {
			body.WriteString(one.Text + "\n")
		}
	}
	body.WriteString("func main() {\n")
	for _, one := range statements {
		fmt.Fprintf(&body, "//line cell.go:%d\n%s\n", one.line, one.text)
	}
	if value != "" {
		fmt.Fprintf(&body, "sandgateShow(%s)\n", value)
	}
	body.WriteString("}\n")
	needed := map[string]string{}
	if value != "" {
		body.WriteString(show)
		needed["encoding/json"], needed["fmt"], needed["os"] = "", "", ""
	}
	return "package main\n\n" + importing(kept, body.String(), needed) + body.String()
}

// importing gives the imports that the text uses: those asked for, and packages of the standard library that nobody
// had to ask for.
func importing(kept []declaration, text string, needed map[string]string) string {
	used := selectors(text)
	lines := map[string]bool{}
	for path := range needed {
		lines["import \""+path+"\""] = true
		delete(used, path[strings.LastIndex(path, "/")+1:])
	}
	for _, one := range kept {
		if !one.Import {
			for _, name := range one.Names {
				delete(used, name)
			}
			continue
		}
		name := strings.TrimPrefix(one.Names[0], "import ")
		if used[name] || name == "_" || name == "." {
			lines[one.Text] = true
		}
		delete(used, name)
	}
	for name := range used {
		if path, ok := standard[name]; ok {
			lines["import \""+path+"\""] = true
		}
	}
	sorted := make([]string, 0, len(lines))
	for line := range lines {
		sorted = append(sorted, line)
	}
	sort.Strings(sorted)
	return strings.Join(sorted, "\n") + "\n"
}

// selectors gives the names before a dot that no surrounding scope declares: packages, most likely.
func selectors(text string) map[string]bool {
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package main\n"+text, 0)
	used := map[string]bool{}
	if file == nil {
		return used
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			// The parser resolves names of the same file; what is left is imported or declared nowhere.
			if of, ok := selector.X.(*ast.Ident); ok && of.Obj == nil {
				used[of.Name] = true
			}
		}
		return true
	})
	return used
}
