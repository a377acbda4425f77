package priv

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// GraphML is the graph of roles: a node for each authorization id, and an edge from each
// to the roles that it was granted, whose color is 1 for WITH ADMIN OPTION.
func (st *State) GraphML() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="key0" for="edge" attr.name="color" attr.type="int" />
  <key id="key1" for="node" attr.name="name" attr.type="string" />
  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" parse.order="nodesfirst">
`)
	all := st.All()
	number := make(map[Name]int, len(all))
	for i, g := range all {
		number[g.Name] = i
		fmt.Fprintf(&b, "    <node id=\"n%d\">\n      <data key=\"key1\">", i)
		_ = xml.EscapeText(&b, []byte(g.Name.String())) // a Builder never fails
		b.WriteString("</data>\n    </node>\n")
	}
	edges := 0
	for i, g := range all {
		for _, r := range g.Roles {
			to, ok := number[r.Name]
			if !ok {
				continue
			}
			color := 0
			if r.Admin {
				color = 1
			}
			fmt.Fprintf(&b, "    <edge id=\"e%d\" source=\"n%d\" target=\"n%d\">\n      <data key=\"key0\">%d</data>\n    </edge>\n", edges, i, to, color)
			edges++
		}
	}
	b.WriteString("  </graph>\n</graphml>\n")
	return b.String()
}
