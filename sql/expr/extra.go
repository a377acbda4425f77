package expr

// What a builtin prepares when a call is bound is in Func.Extra. These methods
// say of which type it is, by the kind of call:
//
//	comparisons, IN, FIELD                          comparison
//	CAST, attribute_as                              cast
//	LIKE                                            like
//	let, let_value                                  let
//	date_add, date_sub, extract, timestampadd, …    unit
//	attribute                                       attributeName
//	attribute_order                                 order
//	attribute_arith                                 arith
//	attributes_with                                 attributeNames
//	cast_array                                      arrayCast
//	partition_of, partition_in                      partitioner
//	computed                                        computed
//	GREATEST, LEAST                                 extreme
//	JSON_VALUE                                      jsonValue
//	@@variable                                      sysVar
//	HIGHLIGHT                                       highlight
//	MATCH, TEXT_MATCH and those like it             Match
//
// They panic for other calls, Match alone is for any call.

func (f *Func) comparison() *comparison { return f.Extra.(*comparison) }

func (f *Func) cast() *castSpec { return f.Extra.(*castSpec) }

func (f *Func) like() *likeSpec { return f.Extra.(*likeSpec) }

func (f *Func) let() *letSlot { return f.Extra.(*letSlot) }

func (f *Func) unit() unitSpec { return f.Extra.(unitSpec) }

func (f *Func) attributeName() string { return f.Extra.(string) }

func (f *Func) attributeNames() []string { return f.Extra.([]string) }

func (f *Func) order() variantOrder { return f.Extra.(variantOrder) }

func (f *Func) arith() arithOp { return f.Extra.(arithOp) }

func (f *Func) arrayCast() ArrayCast { return f.Extra.(ArrayCast) }

func (f *Func) partitioner() *Partitioner { return f.Extra.(*Partitioner) }

func (f *Func) computed() *computed { return f.Extra.(*computed) }

func (f *Func) extreme() *extreme { return f.Extra.(*extreme) }

func (f *Func) jsonValue() *jsonValueSpec { return f.Extra.(*jsonValueSpec) }

func (f *Func) sysVar() *sysVar { return f.Extra.(*sysVar) }

func (f *Func) highlight() *highlight { return f.Extra.(*highlight) }

// Match is the full-text query of a MATCH or a function like it, nil for other
// calls.
func (f *Func) Match() *Match {
	m, _ := f.Extra.(*Match)
	return m
}

// GroupConcat is the order and the separator of GROUP_CONCAT, nil for other
// aggregates.
func (a *Agg) GroupConcat() *GroupConcat {
	g, _ := a.Extra.(*GroupConcat)
	return g
}

// Percentile is the request of APPROX_PERCENTILE, nil for other aggregates.
func (a *Agg) Percentile() *Percentile {
	p, _ := a.Extra.(*Percentile)
	return p
}
