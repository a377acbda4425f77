package main

// The call records of a mobile network: who called whom, when, for how long,
// through which base station. The scenario, its data and its expected results
// are those of Alibaba Cloud Tablestore's introduction to secondary indexes. The
// base stations of the search index at its end are made up.

// step is one statement of the demo. want is nil for statements without rows.
type step struct {
	title string
	sql   string
	want  [][]string
	// explained shows the plan; compared also the access paths that were considered.
	explained, compared bool
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

// demoSearch makes a second table with a search index, and queries it.
func demoSearch() []step {
	return []step{
		{title: "Base stations: three that the calls went through, and 4,900 on a grid",
			sql: `CREATE TABLE BaseStation (
  BaseStationNumber BIGINT PRIMARY KEY, Kind VARCHAR(10), Height INT, Place POINT, Notes TEXT
)`},
		{sql: `INSERT INTO BaseStation VALUES
  (1, 'roof', 38, POINT(11.5755, 48.1374), 'antenna replaced after the storm'),
  (2, 'mast', 45, POINT(11.5600, 48.1402), 'antenna needs repair'),
  (3, 'roof', 52, POINT(11.7861, 48.3538), 'new antenna, new battery')`},
		{sql: `INSERT INTO BaseStation
WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 69)
SELECT 1000 + 70 * x.i + y.i, IF(x.i % 7 = 0, 'roof', 'mast'), 20 + x.i * y.i % 40,
  POINT(11 + x.i / 50, 47.8 + y.i / 100), IF(y.i % 5 = 0, 'inspection due', 'battery ok')
FROM n x, n y`},
		{title: "A search index: one index for any combination of its columns, words and places included",
			sql: `CREATE SEARCH INDEX Anything ON BaseStation (BaseStationNumber, Kind, Height, Place GEO_POINT, Notes TEXT)`},
		{title: "6. Words: which stations have an antenna that needs no repair?", explained: true,
			sql: `SELECT BaseStationNumber, Notes FROM BaseStation
WHERE MATCH (Notes) AGAINST ('+antenna -repair' IN BOOLEAN MODE) ORDER BY BaseStationNumber`,
			want: [][]string{
				{"1", "antenna replaced after the storm"},
				{"3", "new antenna, new battery"}}},
		{title: "7. A circle on the map: which stations are within a kilometre of the city hall?", explained: true,
			sql: `SELECT BaseStationNumber, ROUND(ST_Distance_Sphere(Place, POINT(11.5761, 48.1372))) AS metres FROM BaseStation
WHERE ST_Distance_Sphere(Place, POINT(11.5761, 48.1372)) < 1000 ORDER BY metres`,
			want: [][]string{
				{"1", "50"},
				{"3064", "425"},
				{"3063", "851"}}},
		{title: "8. Several columns, and the three highest. The plan took the cheapest of the access\n-- paths that it considered; costs are nanoseconds.", compared: true,
			sql: `SELECT BaseStationNumber, Height FROM BaseStation
WHERE Kind = 'roof' AND Height > 35 AND ST_Distance_Sphere(Place, POINT(11.5761, 48.1372)) < 20000
ORDER BY Height DESC, BaseStationNumber LIMIT 3`,
			want: [][]string{
				{"2508", "58"},
				{"2506", "56"},
				{"2977", "56"}}},
	}
}
