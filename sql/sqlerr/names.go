package sqlerr

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Name is what is fixed of an error: its number, SQLSTATE and MySQL's symbol.
type Name struct {
	Number        uint16
	State, Symbol string
}

// namesText has a line for each number that a constructor makes, in order.
//
//go:embed names.txt
var namesText string

// Names are the errors that a server can raise, by number.
var Names = sync.OnceValue(func() []Name {
	lines := strings.Split(strings.TrimSpace(namesText), "\n")
	out := make([]Name, len(lines))
	for i, l := range lines {
		if _, err := fmt.Sscan(l, &out[i].Number, &out[i].State, &out[i].Symbol); err != nil {
			panic(fmt.Sprintf("names.txt: %q: %v", l, err))
		}
	}
	return out
})
