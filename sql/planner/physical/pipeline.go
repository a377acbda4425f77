package physical

// PipelineCost is the cost of a pipeline but for what its joins build, which is built
// once.
func PipelineCost(n Node) float64 {
	sum := n.Est().Cost
	for {
		switch x := n.(type) {
		case *Filter:
			n = x.Input
		case *Project:
			n = x.Input
		case *LookupJoin:
			n = x.Left
		case *NestedLoop:
			sum -= x.Right.Est().Cost
			n = x.Left
		case *HashJoin:
			build := x.Right
			if n = x.Left; x.BuildLeft {
				n, build = build, n
			}
			sum -= build.Est().Cost
		default:
			return sum
		}
	}
}
