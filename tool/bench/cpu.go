package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: USER_HZ is 100 on every Linux port that
// Go runs on.
const tick = 10 * time.Millisecond

// processCPU returns the user and system time that a process has used; ok is
// false where that cannot be known.
func processCPU(pid int) (used time.Duration, ok bool) {
	if pid == 0 {
		return 0, false
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseStat(data)
}

// parseStat reads utime and stime, the fields 14 and 15. The command name, in
// parentheses, may contain anything, so counting starts after the last one.
func parseStat(data []byte) (time.Duration, bool) {
	i := bytes.LastIndexByte(data, ')')
	if i < 0 {
		return 0, false
	}
	fields := strings.Fields(string(data[i+1:]))
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err1 == nil && err2 == nil
}

// findServer returns the process that listens at a loopback address, or 0: it
// looks the port up in /proc/net and the socket's number in the processes'
// open files, as far as those may be read.
func findServer(network, addr string) int {
	if network != "tcp" {
		return 0
	}
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return 0
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return 0
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if inode := listeningInode(file, port); inode != "" {
			return socketOwner(inode)
		}
	}
	return 0
}

func listeningInode(file string, port uint64) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	suffix := fmt.Sprintf(":%04X", port)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		const listen = "0A"
		if len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == listen {
			return fields[9]
		}
	}
	return ""
}

func socketOwner(inode string) int {
	want := "socket:[" + inode + "]"
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0
	}
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && link == want {
			pid, _ := strconv.Atoi(strings.Split(fd, "/")[2])
			return pid
		}
	}
	return 0
}
