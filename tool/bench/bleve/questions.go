package main

import (
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

// question is one in bleve's words and in SQL. The SQL gives as many rows as
// there are hits, or the number of hits in the last column of its only row.
type question struct {
	name    string
	request func() *bleve.SearchRequest
	sql     string
	// rows: of the rows that both give, the number is compared instead of hits.
	rows bool
	// counted: the sum of the last column of all rows is the number of hits.
	counted bool
	about   bool
}

func term(field, s string) query.Query {
	q := bleve.NewTermQuery(s)
	q.SetField(field)
	return q
}

func between(field string, lo, hi float64) query.Query {
	yes, no := true, false
	q := bleve.NewNumericRangeInclusiveQuery(&lo, &hi, &yes, &no)
	q.SetField(field)
	return q
}

func count(q query.Query) func() *bleve.SearchRequest {
	return func() *bleve.SearchRequest { return bleve.NewSearchRequestOptions(q, 0, 0, false) }
}

func questions() []question {
	kind := term("kind", "kind3")
	all3 := bleve.NewConjunctionQuery(kind, between("narrow", 100, 400), term("words", "word5"))
	phrase := bleve.NewPhraseQuery([]string{"word0", "word1"}, "words")
	far := *docs / 11
	within := func(km int) func() *bleve.SearchRequest {
		q := bleve.NewGeoDistanceQuery(-5, 40, fmt.Sprintf("%dkm", km))
		q.SetField("place")
		return count(q)
	}
	return []question{
		{name: "count of a keyword", request: count(kind), sql: "SELECT COUNT(*) FROM d WHERE kind = 'kind3'", counted: true},
		{name: "keyword, range and word", request: count(all3), sql: "SELECT COUNT(*) FROM d WHERE kind = 'kind3' AND narrow >= 100 AND narrow < 400 AND TEXT_MATCH(words, 'word5')", counted: true},
		{name: "range of 1 %", request: count(between("wide", 0, 10_000)), sql: "SELECT COUNT(*) FROM d WHERE wide >= 0 AND wide < 10000", counted: true},
		{name: "range of 30 %", request: count(between("wide", 0, 300_000)), sql: "SELECT COUNT(*) FROM d WHERE wide >= 0 AND wide < 300000", counted: true},
		{name: "first 10 of 10 % by a number", rows: true, sql: "SELECT id FROM d WHERE kind = 'kind3' ORDER BY wide LIMIT 10", request: func() *bleve.SearchRequest {
			r := bleve.NewSearchRequestOptions(kind, 10, 0, false)
			r.SortBy([]string{"wide"})
			return r
		}},
		{name: fmt.Sprintf("OFFSET %d LIMIT 10 by a number", far), rows: true, sql: fmt.Sprintf("SELECT id FROM d ORDER BY wide LIMIT 10 OFFSET %d", far), request: func() *bleve.SearchRequest {
			r := bleve.NewSearchRequestOptions(bleve.NewMatchAllQuery(), 10, far, false)
			r.SortBy([]string{"wide"})
			return r
		}},
		{name: "count of a phrase of frequent words", request: count(phrase), sql: "SELECT COUNT(*) FROM d WHERE TEXT_MATCH_PHRASE(words, 'word0 word1')", counted: true},
		{name: "10 best of two words", rows: true, sql: "SELECT id FROM d WHERE TEXT_MATCH(words, 'word1 word30') ORDER BY TEXT_MATCH(words, 'word1 word30') DESC LIMIT 10", request: func() *bleve.SearchRequest {
			return bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(term("words", "word1"), term("words", "word30")), 10, 0, false)
		}},
		{name: "places within 1 km", about: true, request: within(1), sql: "SELECT COUNT(*) FROM d WHERE ST_Distance_Sphere(place, POINT(-5, 40)) <= 1000", counted: true},
		{name: "places within 10 km", about: true, request: within(10), sql: "SELECT COUNT(*) FROM d WHERE ST_Distance_Sphere(place, POINT(-5, 40)) <= 10000", counted: true},
		{name: "groups of 30 % by a keyword of 10 values", counted: true, sql: "SELECT kind, COUNT(*) FROM d WHERE narrow < 300 GROUP BY kind", request: func() *bleve.SearchRequest {
			r := bleve.NewSearchRequestOptions(between("narrow", 0, 300), 0, 0, false)
			r.AddFacet("kind", bleve.NewFacetRequest("kind", 10))
			return r
		}},
	}
}
