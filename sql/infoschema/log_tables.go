package infoschema

import (
	"fmt"
	"time"
)

// SlowStatement is a line of mysql.slow_log.
type SlowStatement struct {
	Start          time.Time
	UserHost       string
	Took, Locked   time.Duration
	Sent, Examined int64
	Database, Text string
	LastInsertID   uint64
	Thread         uint64
}

// LoggedCommand is a line of mysql.general_log.
type LoggedCommand struct {
	At                      time.Time
	UserHost, Command, Text string
	Thread                  uint64
}

// clock is a duration as a TIME(6).
func clock(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d.%06d", s/3600, s/60%60, s%60, d%time.Second/time.Microsecond)
}

func slowLog(q *query) error {
	for _, x := range q.server.SlowLog() {
		err := q.emit(x.Start, x.UserHost, clock(x.Took), clock(x.Locked), x.Sent, x.Examined, x.Database, int64(x.LastInsertID), 0, uint64(1), x.Text, x.Thread)
		if err != nil {
			return err
		}
	}
	return nil
}

func generalLog(q *query) error {
	for _, x := range q.server.GeneralLog() {
		if err := q.emit(x.At, x.UserHost, x.Thread, uint64(1), x.Command, x.Text); err != nil {
			return err
		}
	}
	return nil
}
