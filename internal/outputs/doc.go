// Package outputs reports to pipelines what a checker found: as JUnit's XML, as SARIF
// 2.1.0, and as the annotations of GitHub's workflows.
//
// Each report is made of Records: a report.Line and Details for each history. Both
// are also JSON, so the shards of a store together report the same as one run.
//
//	r := outputs.New("junit", outputs.Options{Version: version})
//	for each result {
//		fmt.Print(r.Add(outputs.Record{Line: r.Line(), Details: outputs.NewDetails(r, nil)}))
//	}
//	fmt.Print(r.End())
package outputs
