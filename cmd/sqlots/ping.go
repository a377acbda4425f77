package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const pingUsage = `usage: sqlots ping [flags]

Says whether a server answers: exit code 0, or 1 with the reason. It connects as
"sqlots sql" does; a server that refuses the login answers, too. With --http it
reads a page instead, such as http://127.0.0.1:4001/readyz, which has to be 200.

flags:
`

// maxReason is how much of a page is printed.
const maxReason = 1000

// ping is "sqlots ping".
func ping(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots ping", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, pingUsage)
		fs.PrintDefaults()
	}
	o := &connection{}
	o.flags(fs)
	page := fs.String("http", "", "URL of a page to read instead; without a path it is /readyz")
	insecure := fs.Bool("http-insecure", false, "do not verify the certificate of that server")
	timeout := fs.Duration("timeout", 5*time.Second, "how long to wait")
	quiet := fs.Bool("quiet", false, "print nothing if the server answers")
	if code, ok := parseFlags(fs, args); !ok {
		return code
	}
	if fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots ping: unexpected argument", fs.Arg(0))
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	var answer string
	var err error
	if *page != "" {
		answer, err = pingPage(ctx, *page, *insecure)
	} else {
		var config *mysql.Config
		if config, err = o.config(stderr); err != nil {
			fmt.Fprintln(stderr, "sqlots ping:", err)
			return 2
		}
		config.Timeout = *timeout
		answer, err = pingServer(ctx, config)
	}
	if err != nil {
		fmt.Fprintln(stderr, "sqlots ping:", err)
		return 1
	}
	if !*quiet {
		fmt.Fprintln(stdout, answer)
	}
	return 0
}

// pingServer connects and sends COM_PING.
func pingServer(ctx context.Context, config *mysql.Config) (string, error) {
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return "", err
	}
	began := time.Now()
	conn, err := connector.Connect(ctx)
	var reply *mysql.MySQLError
	switch {
	case errors.As(err, &reply) && reply.Number == 1045: // it answers
		return "the server answers, and refuses the login: " + reply.Message, nil
	case err != nil && ctx.Err() != nil:
		return "", errors.New("no answer in time from " + config.Addr)
	case err != nil:
		return "", fmt.Errorf("%s: %w", config.Addr, err)
	}
	defer conn.Close()
	if p, ok := conn.(interface{ Ping(context.Context) error }); ok {
		if err := p.Ping(ctx); err != nil {
			return "", fmt.Errorf("%s: %w", config.Addr, err)
		}
	}
	return fmt.Sprintf("the server answers (%s)", time.Since(began).Round(time.Millisecond/10)), nil
}

// pingPage reads a page, whose text is the answer.
func pingPage(ctx context.Context, url string, insecure bool) (string, error) {
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	if rest := url[strings.Index(url, "://")+3:]; !strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
		url = strings.TrimSuffix(url, "/") + "/readyz"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReason))
	if err != nil {
		return "", err
	}
	answer := strings.TrimSpace(string(text))
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", response.Status, answer)
	}
	return answer, nil
}
