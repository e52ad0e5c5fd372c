// The packages that a cell may use without importing them.

package main

// standard is what a cell may use without an import, by the name it is used under.
var standard = map[string]string{
	"atomic": "sync/atomic", "base64": "encoding/base64", "big": "math/big", "binary": "encoding/binary",
	"bufio": "bufio", "bytes": "bytes", "cmp": "cmp", "context": "context", "csv": "encoding/csv",
	"errors": "errors", "exec": "os/exec", "filepath": "path/filepath", "flag": "flag", "fmt": "fmt",
	"gzip": "compress/gzip", "heap": "container/heap", "hex": "encoding/hex", "html": "html", "http": "net/http",
	"io": "io", "iter": "iter", "json": "encoding/json", "list": "container/list", "log": "log", "maps": "maps",
	"math": "math", "md5": "crypto/md5", "net": "net", "os": "os", "path": "path", "rand": "math/rand",
	"reflect": "reflect", "regexp": "regexp", "runtime": "runtime", "sha1": "crypto/sha1", "sha256": "crypto/sha256",
	"signal": "os/signal", "slices": "slices", "slog": "log/slog", "sort": "sort", "strconv": "strconv",
	"strings": "strings", "sync": "sync", "template": "text/template", "time": "time", "unicode": "unicode",
	"url": "net/url", "utf8": "unicode/utf8",
}
