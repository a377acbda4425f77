package server

import (
	"fmt"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/audit"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// Values of Config.AuditLog.
const (
	AuditOff    = "off"
	AuditOn     = "on"
	AuditForced = "forced" // SET does not change its variables, and without the file the server does not start
)

func checkAudit(cfg Config) error {
	switch cfg.AuditLog {
	case "", AuditOff, AuditOn, AuditForced:
		return nil
	}
	return fmt.Errorf("--audit-log %s: it is off, on or forced", cfg.AuditLog)
}

// auditStart writes the first event, with the settings of the log, before anyone can
// connect.
func (s *Server) auditStart() error {
	log := s.engine.Audit
	if err := log.Check(); err != nil && s.engine.AuditForced {
		return fmt.Errorf("--audit-log forced: %w", err)
	}
	x := audit.Event{Name: "server_start"}
	if s.cfg.SkipGrantTables {
		x.Reason = "--skip-grant-tables: everyone on this machine may do everything"
	}
	for _, name := range s.engine.Globals.Defs.Names() {
		if sysvar.IsOfAudit(name) {
			d := s.engine.Globals.Lookup(name)
			x.Settings = append(x.Settings, audit.Change{Name: name, Old: d.Text(d.Default), New: d.Text(s.engine.Globals.Get(d))})
		}
	}
	log.Write(&x)
	return nil
}

// auditStop writes the last event, after all connections have ended.
func (s *Server) auditStop() { s.engine.Audit.Write(&audit.Event{Name: "server_stop"}) }

// loginRefused writes the event of a failed login.
func (s *Server) loginRefused(l mysqlwire.RefusedLogin) {
	log := s.engine.Audit
	if !log.Takes(audit.Connect) {
		return
	}
	x := audit.Event{Class: audit.Connect, Name: "connect_refused", Database: l.Info.Database, Command: "Connect", Failed: true, Reason: l.Reason}
	if l.Info.ChangesUser {
		x.Command = "Change user"
	}
	statement.DescribeLogin(&x, &l.Info)
	if l.Err != nil {
		x.Number, x.Message = l.Err.Number, l.Err.Message
	}
	log.Write(&x)
}
