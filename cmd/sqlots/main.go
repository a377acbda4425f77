package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/tool/bench"
	"github.com/sqlots/sqlots/tool/load"
	"github.com/sqlots/sqlots/tool/slt"
)

// command is a subcommand.
type command struct {
	name, what string
	run        func(args []string, stdout, stderr io.Writer) int
}

func commands() []command {
	return []command{
		{"serve", "run the server on a data directory", serve},
		{"demo", "run a server on a temporary directory and show what it does", demo},
		{"sql", "a shell for any MySQL server", shell},
		{"ping", "say whether a server answers", ping},
		{"check", "verify the data of a directory that no server uses", check},
		{"backup", "copy a running server's data, or verify such a copy", runBackup},
		{"restore", "make a data directory of a backup", restore},
		{"load", "load CSV, TSV or JSON lines into a table", load.Main},
		{"bench", "load and run benchmarks against any MySQL server", bench.Main},
		{"slt", "run sqllogictest files against any MySQL server", slt.Main},
		{"tikv-smoke", "move money on a TiKV cluster while you kill its servers", tikvSmoke},
		{"version", "print the version", version},
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return 0
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "sqlots: unknown command %q\n\n", args[0])
	usage(stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "sqlots is a wide-column store that answers MySQL.\n\nUsage: sqlots COMMAND [FLAGS]\n\nCommands:")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.what)
	}
	fmt.Fprintln(w, "\n'sqlots COMMAND -h' lists the flags of a command.")
}

func version(_ []string, stdout, _ io.Writer) int {
	fmt.Fprintln(stdout, "sqlots", expr.ServerVersion)
	return 0
}
