package session

import (
	"github.com/sqlots/sqlots/mysqlwire"
)

// Text on its way from and to the client. A statement arrives in
// character_set_client and becomes UTF-8, in which everything below works; its
// literals and the parameters become strings of character_set_connection;
// results leave in character_set_results (MySQL manual 12.4). What is UTF-8
// anyway is not touched.

var _ mysqlwire.ResultCollationer = (*Session)(nil)
