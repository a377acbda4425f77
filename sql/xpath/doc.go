// Package xpath is the XML and XPath of EXTRACTVALUE and UPDATEXML: a parser
// that only checks that tags match, and the part of XPath 1.0 that MySQL has
// (MySQL manual 14.11).
//
// A Document keeps the positions of its nodes in the text, so that UPDATEXML can
// replace one. An Expr is compiled once and evaluated over documents; both are
// immutable. Entities are not resolved, namespaces are parts of names.
package xpath
