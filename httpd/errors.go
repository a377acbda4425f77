package httpd

import (
	"net/http"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// statuses are the HTTP statuses of errors that are not 400.
var statuses = map[uint16]int{
	1040: 429, 1203: 429, 1226: 429, // too many connections, or statements in an hour
	1044: 403, 1142: 403, 1143: 403, 1227: 403, 1370: 403, 1095: 403, // privileges
	1290: 403, 1792: 403, 1836: 403, 3118: 403, 3955: 403, 3159: 403, 1820: 403, // modes and accounts
	1045: 401, 1698: 401,
	1053: 503,
	1105: 500, 1815: 500, 1194: 500, 1030: 500, 1180: 500,
	1153: 413,
	1205: 409, 1213: 409,
	1021: 507, 1114: 507, 3170: 507,
	3024: 504,
}

func statusOf(e *sqlerr.Error) int {
	if st := statuses[e.Number]; st != 0 {
		return st
	}
	return http.StatusBadRequest
}

// appendError appends an error as JSON; statement is the number of the statement that
// failed, 0 if there was one only.
func appendError(dst []byte, e *sqlerr.Error, statement int) []byte {
	return appendFailure(dst, e.Number, e.State, e.Message, statement)
}

func appendFailure(dst []byte, code uint16, state, message string, statement int) []byte {
	dst = append(dst, `{"error":{"code":`...)
	dst = appendInt(dst, int64(code))
	dst = append(dst, `,"state":`...)
	dst = appendJSONString(dst, state)
	dst = append(dst, `,"message":`...)
	dst = appendJSONString(dst, message)
	if statement > 0 {
		dst = append(dst, `,"statement":`...)
		dst = appendInt(dst, int64(statement))
	}
	return append(dst, "}}\n"...)
}

// writeError answers with an error of SQL; r, if not nil, is what it answers.
func writeError(w http.ResponseWriter, r *http.Request, e *sqlerr.Error) {
	writeFailure(w, r, statusOf(e), appendError(nil, e, 0))
}

// writeProblem answers with an error that is not of SQL: its code is 0.
func writeProblem(w http.ResponseWriter, status int, message string) {
	writeFailure(w, nil, status, appendFailure(nil, 0, "HY000", message, 0))
}

func writeFailure(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	switch status {
	case http.StatusUnauthorized:
		// A browser would show its own dialog, and keep the password: pages log in by
		// /v1/login.
		if r == nil || r.Header.Get("Sec-Fetch-Site") == "" {
			h.Set("WWW-Authenticate", `Basic realm="sqlots", charset="UTF-8"`)
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	h.Del("Content-Encoding")
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
