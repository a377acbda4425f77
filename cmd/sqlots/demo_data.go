package main

// The call records of a mobile network: who called whom, when, for how long,
// through which base station. The scenario, its data and its expected results
// are those of Alibaba Cloud Tablestore's introduction to secondary indexes.

// step is one statement of the demo. want is nil for statements without rows.
type step struct {
	title string
	sql   string
	want  [][]string
	// explained shows the plan.
	explained bool
}

// demoSetup makes and fills the table.
func demoSetup() []step {
	return []step{
		{title: "A database", sql: "CREATE DATABASE demo"},
		{sql: "USE demo"},
		{title: "The table: its primary key orders the rows, three indexes are kept with it. INCLUDE\n-- adds a column to an index without making it a key, so that the index alone answers.",
			sql: `CREATE TABLE CallRecordTable (
  CellNumber BIGINT, StartTime BIGINT, CalledNumber BIGINT, Duration BIGINT, BaseStationNumber BIGINT,
  PRIMARY KEY (CellNumber, StartTime),
  KEY IndexOnBeCalledNumber (CalledNumber),
  KEY IndexOnBaseStation1 (BaseStationNumber, StartTime),
  KEY IndexOnBaseStation2 (BaseStationNumber, StartTime) INCLUDE (Duration)
)`},
		{title: "Six calls", sql: `INSERT INTO CallRecordTable VALUES
  (123456, 1532574644, 654321,  60, 1),
  (234567, 1532574714, 765432,  10, 1),
  (234567, 1532574734, 123456,  20, 3),
  (345678, 1532574795, 123456,   5, 2),
  (345678, 1532574861, 123456, 100, 2),
  (456789, 1532584054, 345678, 200, 3)`},
	}
}

// demoQueries are the five queries of the scenario and the aggregates that can
// be derived from its rows.
func demoQueries() []step {
	return []step{
		{title: "1. Which calls did 234567 make? A prefix of the primary key.", explained: true,
			sql: `SELECT * FROM CallRecordTable WHERE CellNumber = 234567 ORDER BY StartTime`,
			want: [][]string{
				{"234567", "1532574714", "765432", "10", "1"},
				{"234567", "1532574734", "123456", "20", "3"}}},
		{title: "2. Which calls did 123456 receive? An index knows the keys of the rows.", explained: true,
			sql: `SELECT CellNumber, StartTime FROM CallRecordTable WHERE CalledNumber = 123456 ORDER BY CellNumber, StartTime`,
			want: [][]string{
				{"234567", "1532574734"},
				{"345678", "1532574795"},
				{"345678", "1532574861"}}},
		{title: "3. Which calls went through base station 2 from 1532574740 on?", explained: true,
			sql: `SELECT CellNumber, StartTime FROM CallRecordTable WHERE BaseStationNumber = 2 AND StartTime >= 1532574740 ORDER BY StartTime`,
			want: [][]string{
				{"345678", "1532574795"},
				{"345678", "1532574861"}}},
		{title: "4. How long were the calls through base station 3 from 1532574861 to 1532584054?", explained: true,
			sql:  `SELECT Duration FROM CallRecordTable WHERE BaseStationNumber = 3 AND StartTime BETWEEN 1532574861 AND 1532584054`,
			want: [][]string{{"200"}}},
		{title: "5. The same calls in numbers.", explained: true,
			sql: `SELECT COUNT(*), SUM(Duration), AVG(Duration), MAX(Duration), MIN(Duration) FROM CallRecordTable
WHERE BaseStationNumber = 3 AND StartTime BETWEEN 1532574861 AND 1532584054`,
			want: [][]string{{"1", "200", "200.0000", "200", "200"}}},
		{title: "All calls in numbers", explained: true,
			sql:  `SELECT COUNT(*), SUM(Duration), AVG(Duration), MAX(Duration), MIN(Duration) FROM CallRecordTable`,
			want: [][]string{{"6", "395", "65.8333", "200", "5"}}},
		{title: "By base station", explained: true,
			sql: `SELECT BaseStationNumber, COUNT(*), SUM(Duration), AVG(Duration), MAX(Duration), MIN(Duration)
FROM CallRecordTable GROUP BY BaseStationNumber ORDER BY BaseStationNumber`,
			want: [][]string{
				{"1", "2", "70", "35.0000", "60", "10"},
				{"2", "2", "105", "52.5000", "100", "5"},
				{"3", "2", "220", "110.0000", "200", "20"}}},
		{title: "By caller", explained: true,
			sql: `SELECT CellNumber, COUNT(*), SUM(Duration), AVG(Duration), MAX(Duration), MIN(Duration)
FROM CallRecordTable GROUP BY CellNumber ORDER BY CellNumber`,
			want: [][]string{
				{"123456", "1", "60", "60.0000", "60", "60"},
				{"234567", "2", "30", "15.0000", "20", "10"},
				{"345678", "2", "105", "52.5000", "100", "5"},
				{"456789", "1", "200", "200.0000", "200", "200"}}},
		{title: "By callee", explained: true,
			sql: `SELECT CalledNumber, COUNT(*), SUM(Duration) FROM CallRecordTable GROUP BY CalledNumber ORDER BY CalledNumber`,
			want: [][]string{
				{"123456", "3", "125"},
				{"345678", "1", "200"},
				{"654321", "1", "60"},
				{"765432", "1", "10"}}},
	}
}
