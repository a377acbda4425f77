package lint

// section is a section of the function reference of the MySQL 8.4 manual,
// 14.1.
type section struct {
	title string
	// probes are one call of each function or operator: the first word is the name
	// unless a name and a | precede it.
	probes []string
	// excluded says why none of them is there; "" for sections of ours.
	excluded string
}

// reference is all of section 14.1, each name once.
var reference = []section{
	{title: "Operators", probes: []string{
		"&|1 & 1", ">|1 > 1", ">>|1 >> 1", ">=|1 >= 1", "<|1 < 1", "<>, !=|1 <> 1", "<<|1 << 1", "<=|1 <= 1", "<=>|1 <=> 1", "%, MOD|1 % 1", "*|1 * 1", "+|1 + 1",
		"-|1 - 1", "- (sign)|-a", "->|j -> '$.a'", "->>|j ->> '$.a'", "/|1 / 1", ":=|@a := 1", "=|1 = 1", "^|1 ^ 1", "AND, &&|1 AND 1",
		"BETWEEN … AND …|1 BETWEEN 1 AND 2", "BINARY|BINARY 'a'", "CASE|CASE a WHEN 1 THEN 2 END", "DIV|1 DIV 1", "EXISTS()|EXISTS(SELECT 1)", "IN()|1 IN (1)",
		"IS|a IS TRUE", "IS NOT|a IS NOT TRUE", "IS NOT NULL|a IS NOT NULL", "IS NULL|a IS NULL", "LIKE|'a' LIKE 'b'", "MEMBER OF()|1 MEMBER OF('[1]')", "NOT, !|NOT 1",
		"NOT BETWEEN … AND …|1 NOT BETWEEN 1 AND 2", "NOT EXISTS()|NOT EXISTS(SELECT 1)", "NOT IN()|1 NOT IN (1)", "NOT LIKE|'a' NOT LIKE 'b'", "NOT REGEXP|'a' NOT REGEXP 'b'",
		"OR, \\|\\||1 OR 1", "REGEXP|'a' REGEXP 'b'", "RLIKE|'a' RLIKE 'b'", "SOUNDS LIKE|s SOUNDS LIKE 'b'", "XOR|1 XOR 1", "\\||1 | 1", "~|~1"}},
	{title: "Control flow and comparison", probes: []string{"COALESCE(1)", "GREATEST(1, 2)", "IF(1, 2, 3)", "IFNULL(1, 2)", "INTERVAL(1, 2)", "ISNULL(1)", "LEAST(1, 2)", "NULLIF(1, 2)", "STRCMP('a', 'b')"}},
	{title: "Numbers", probes: []string{"ABS(1)", "ACOS(1)", "ASIN(1)", "ATAN(1)", "ATAN2(1, 1)", "CEIL(1)", "CEILING(1)", "CONV('a', 16, 2)", "COS(1)", "COT(1)", "CRC32('a')", "DEGREES(1)", "EXP(1)",
		"FLOOR(1)", "FORMAT(1, 2)", "LN(1)", "LOG(1)", "LOG10(1)", "LOG2(1)", "MOD(1, 1)", "PI()", "POW(1, 1)", "POWER(1, 1)", "RADIANS(1)", "RAND()", "ROUND(1)", "SIGN(1)", "SIN(1)", "SQRT(1)", "TAN(1)", "TRUNCATE(1, 1)"}},
	{title: "Dates and times", probes: []string{"ADDDATE(d, 1)", "ADDTIME(d, '1')", "CONVERT_TZ(d, 'UTC', 'UTC')", "CURDATE()", "CURRENT_DATE()", "CURRENT_TIME()", "CURRENT_TIMESTAMP()", "CURTIME()", "DATE(d)",
		"DATE_ADD(d, INTERVAL 1 DAY)", "DATE_FORMAT(d, '%Y')", "DATE_SUB(d, INTERVAL 1 DAY)", "DATEDIFF(d, d)", "DAY(d)", "DAYNAME(d)", "DAYOFMONTH(d)", "DAYOFWEEK(d)", "DAYOFYEAR(d)",
		"EXTRACT(YEAR FROM d)", "FROM_DAYS(1)", "FROM_UNIXTIME(1)", "GET_FORMAT(DATE, 'USA')", "HOUR(d)", "LAST_DAY(d)", "LOCALTIME()", "LOCALTIMESTAMP()", "MAKEDATE(1, 1)", "MAKETIME(1, 1, 1)",
		"MICROSECOND(d)", "MINUTE(d)", "MONTH(d)", "MONTHNAME(d)", "NOW()", "PERIOD_ADD(202401, 1)", "PERIOD_DIFF(202401, 202401)", "QUARTER(d)", "SEC_TO_TIME(1)", "SECOND(d)", "STR_TO_DATE('1', '%Y')",
		"SUBDATE(d, 1)", "SUBTIME(d, '1')", "SYSDATE()", "TIME(d)", "TIME_FORMAT('1', '%H')", "TIME_TO_SEC('1')", "TIMEDIFF(d, d)", "TIMESTAMP(d)", "TIMESTAMPADD(DAY, 1, d)", "TIMESTAMPDIFF(DAY, d, d)",
		"TO_DAYS(d)", "TO_SECONDS(d)", "UNIX_TIMESTAMP()", "UTC_DATE()", "UTC_TIME()", "UTC_TIMESTAMP()", "WEEK(d)", "WEEKDAY(d)", "WEEKOFYEAR(d)", "YEAR(d)", "YEARWEEK(d)"}},
	{title: "Strings", probes: []string{"ASCII('a')", "BIN(1)", "BIT_LENGTH('a')", "CHAR(65)", "CHAR_LENGTH('a')", "CHARACTER_LENGTH('a')", "CONCAT('a')", "CONCAT_WS(',', 'a')", "ELT(1, 'a')", "EXPORT_SET(1, 'a', 'b')",
		"FIELD('a', 'b')", "FIND_IN_SET('a', 'b')", "FROM_BASE64('a')", "HEX('a')", "INSERT('a', 1, 1, 'b')", "INSTR('a', 'b')", "LCASE('a')", "LEFT('a', 1)", "LENGTH('a')", "LOAD_FILE('a')", "LOCATE('a', 'b')", "LOWER('a')",
		"LPAD('a', 1, 'b')", "LTRIM('a')", "MAKE_SET(1, 'a')", "MID('a', 1, 1)", "OCT(1)", "OCTET_LENGTH('a')", "ORD('a')", "POSITION('a' IN 'b')", "QUOTE('a')", "REGEXP_INSTR('a', 'b')", "REGEXP_LIKE('a', 'b')",
		"REGEXP_REPLACE('a', 'b', 'c')", "REGEXP_SUBSTR('a', 'b')", "REPEAT('a', 1)", "REPLACE('a', 'b', 'c')", "REVERSE('a')", "RIGHT('a', 1)", "RPAD('a', 1, 'b')", "RTRIM('a')", "SOUNDEX('a')", "SPACE(1)",
		"SUBSTR('a', 1)", "SUBSTRING('a', 1)", "SUBSTRING_INDEX('a', 'b', 1)", "TO_BASE64('a')", "TRIM('a')", "UCASE('a')", "UNHEX('41')", "UPPER('a')", "WEIGHT_STRING('a')"}},
	{title: "Casts", probes: []string{"CAST(1 AS CHAR)", "CONVERT('a' USING utf8mb4)", "CONVERT(x, type)|CONVERT(1, CHAR)", "CAST(… AT TIME ZONE …)|CAST(ts AT TIME ZONE 'UTC' AS DATETIME)"}},
	{title: "XML", probes: []string{"ExtractValue('<a/>', '/a')", "UpdateXML('<a/>', '/a', 'b')"}},
	{title: "Bits", probes: []string{"BIT_COUNT(1)"}},
	{title: "Encryption and compression", probes: []string{"AES_DECRYPT('a', 'b')", "AES_ENCRYPT('a', 'b')", "COMPRESS('a')", "MD5('a')", "RANDOM_BYTES(1)", "SHA('a')", "SHA1('a')", "SHA2('a', 256)", "STATEMENT_DIGEST('a')", "STATEMENT_DIGEST_TEXT('a')",
		"UNCOMPRESS('a')", "UNCOMPRESSED_LENGTH('a')", "VALIDATE_PASSWORD_STRENGTH('a')"}},
	{title: "Locks", probes: []string{"GET_LOCK('a', 1)", "IS_FREE_LOCK('a')", "IS_USED_LOCK('a')", "RELEASE_ALL_LOCKS()", "RELEASE_LOCK('a')"}},
	{title: "Change logs (not in MySQL)", probes: []string{"SNAPSHOT_SEQ()", "STREAM_WAIT('t', 1, 1)"}},
	{title: "Information", probes: []string{"BENCHMARK(1, 1)", "CHARSET('a')", "COERCIBILITY('a')", "COLLATION('a')", "CONNECTION_ID()", "CURRENT_ROLE()", "CURRENT_USER()", "DATABASE()", "FOUND_ROWS()", "ICU_VERSION()", "LAST_INSERT_ID()",
		"ROLES_GRAPHML()", "ROW_COUNT()", "SCHEMA()", "SESSION_USER()", "SYSTEM_USER()", "USER()", "VERSION()"}},
	{title: "JSON", probes: []string{"JSON_ARRAY(1)", "JSON_ARRAY_APPEND(j, '$', 1)", "JSON_ARRAY_INSERT(j, '$[0]', 1)", "JSON_CONTAINS(j, j)", "JSON_CONTAINS_PATH(j, 'one', '$')", "JSON_DEPTH(j)", "JSON_EXTRACT(j, '$')", "JSON_INSERT(j, '$', 1)",
		"JSON_KEYS(j)", "JSON_LENGTH(j)", "JSON_MERGE(j, j)", "JSON_MERGE_PATCH(j, j)", "JSON_MERGE_PRESERVE(j, j)", "JSON_OBJECT('a', 1)", "JSON_OVERLAPS(j, j)", "JSON_PRETTY(j)", "JSON_QUOTE('a')", "JSON_REMOVE(j, '$.a')",
		"JSON_REPLACE(j, '$', 1)", "JSON_SCHEMA_VALID(j, j)", "JSON_SCHEMA_VALIDATION_REPORT(j, j)", "JSON_SEARCH(j, 'one', 'a')", "JSON_SET(j, '$', 1)", "JSON_STORAGE_FREE(j)", "JSON_STORAGE_SIZE(j)",
		"JSON_TYPE(j)", "JSON_UNQUOTE(j)", "JSON_VALID(j)", "JSON_VALUE(j, '$' RETURNING SIGNED)"}},
	{title: "Tables from JSON", probes: []string{"JSON_TABLE()|(SELECT COUNT(*) FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) AS jt)"}},
	{title: "Aggregates", probes: []string{"AVG(a)", "BIT_AND(a)", "BIT_OR(a)", "BIT_XOR(a)", "COUNT(a)", "COUNT(DISTINCT)|COUNT(DISTINCT a)", "GROUP_CONCAT(a)", "JSON_ARRAYAGG(a)", "JSON_OBJECTAGG(s, a)", "MAX(a)", "MIN(a)", "STD(a)", "STDDEV(a)",
		"STDDEV_POP(a)", "STDDEV_SAMP(a)", "SUM(a)", "VAR_POP(a)", "VAR_SAMP(a)", "VARIANCE(a)"}},
	{title: "Windows", probes: []string{"CUME_DIST() OVER (ORDER BY a)", "DENSE_RANK() OVER (ORDER BY a)", "FIRST_VALUE(a) OVER (ORDER BY a)", "LAG(a) OVER (ORDER BY a)", "LAST_VALUE(a) OVER (ORDER BY a)", "LEAD(a) OVER (ORDER BY a)",
		"NTH_VALUE(a, 1) OVER (ORDER BY a)", "NTILE(2) OVER (ORDER BY a)", "PERCENT_RANK() OVER (ORDER BY a)", "RANK() OVER (ORDER BY a)", "ROW_NUMBER() OVER (ORDER BY a)"}},
	{title: "performance_schema", probes: []string{"FORMAT_BYTES(1)", "FORMAT_PICO_TIME(1)", "PS_CURRENT_THREAD_ID()", "PS_THREAD_ID(1)"}},
	{title: "Miscellaneous", probes: []string{"ANY_VALUE(a)", "BIN_TO_UUID('a')", "DEFAULT(a)", "GROUPING()|(SELECT GROUPING(a) FROM t GROUP BY a WITH ROLLUP LIMIT 1)", "INET_ATON('a')", "INET_NTOA(1)", "INET6_ATON('a')", "INET6_NTOA('a')", "IS_IPV4('a')", "IS_IPV4_COMPAT('a')",
		"IS_IPV4_MAPPED('a')", "IS_IPV6('a')", "IS_UUID('a')", "NAME_CONST('a', 1)", "SLEEP(1)", "UUID()", "UUID_SHORT()", "UUID_TO_BIN('a')", "VALUES(a)"}},
	{title: "Full text", probes: []string{"MATCH()|MATCH (s) AGAINST ('a')"}},
	{title: "Full text (not in MySQL)", probes: []string{"ARRAY_EXTRACT()|(SELECT ARRAY_EXTRACT(j) = 1 FROM t LIMIT 1)", "HIGHLIGHT()|(SELECT HIGHLIGHT(s) FROM t WHERE TEXT_MATCH(s, 'a') LIMIT 1)", "NESTED_QUERY()|(SELECT NESTED_QUERY(`s.a` = 1) FROM t LIMIT 1)", "SCORE()|(SELECT SCORE() FROM t WHERE TEXT_MATCH(s, 'a') LIMIT 1)", "TEXT_MATCH(s, 'a')", "TEXT_MATCH_FUZZY(s, 'a')", "TEXT_MATCH_PHRASE(s, 'a')"}},
	{title: "Forms of values (not in MySQL)", probes: []string{"GEO_POINT('48.1,11.5')", "PARSE_DATETIME('20200102', 'yyyyMMdd')"}},
	{title: "Geometry", probes: []string{"GeomCollection(POINT(1, 1))", "GeometryCollection(POINT(1, 1))", "LineString(POINT(1, 1), POINT(2, 2))", "MBRContains(NULL, NULL)", "MBRCoveredBy(NULL, NULL)", "MBRCovers(NULL, NULL)", "MBRDisjoint(NULL, NULL)", "MBREquals(NULL, NULL)", "MBRIntersects(NULL, NULL)",
		"MBROverlaps(NULL, NULL)", "MBRTouches(NULL, NULL)", "MBRWithin(NULL, NULL)", "MultiLineString(NULL)", "MultiPoint(NULL)", "MultiPolygon(NULL)", "Point(1, 1)", "Polygon(NULL)", "ST_Area(NULL)", "ST_AsBinary(NULL)", "ST_AsWKB(NULL)", "ST_AsGeoJSON(NULL)", "ST_AsText(NULL)", "ST_AsWKT(NULL)",
		"ST_Buffer(NULL, 1)", "ST_Buffer_Strategy('point_circle', 1)", "ST_Centroid(NULL)", "ST_Collect(NULL)", "ST_Contains(NULL, NULL)", "ST_ConvexHull(NULL)", "ST_Crosses(NULL, NULL)", "ST_Difference(NULL, NULL)", "ST_Dimension(NULL)", "ST_Disjoint(NULL, NULL)", "ST_Distance(NULL, NULL)",
		"ST_Distance_Sphere(NULL, NULL)", "ST_EndPoint(NULL)", "ST_Envelope(NULL)", "ST_Equals(NULL, NULL)", "ST_ExteriorRing(NULL)", "ST_FrechetDistance(NULL, NULL)", "ST_GeoHash(NULL, 1)", "ST_GeomCollFromText('')", "ST_GeometryCollectionFromText('')", "ST_GeomCollFromTxt('')",
		"ST_GeomCollFromWKB('')", "ST_GeometryCollectionFromWKB('')", "ST_GeometryN(NULL, 1)", "ST_GeometryType(NULL)", "ST_GeomFromGeoJSON('')", "ST_GeomFromText('')", "ST_GeometryFromText('')", "ST_GeomFromWKB('')", "ST_GeometryFromWKB('')",
		"ST_HausdorffDistance(NULL, NULL)", "ST_InteriorRingN(NULL, 1)", "ST_Intersection(NULL, NULL)", "ST_Intersects(NULL, NULL)", "ST_IsClosed(NULL)", "ST_IsEmpty(NULL)", "ST_IsSimple(NULL)", "ST_IsValid(NULL)", "ST_LatFromGeoHash('')", "ST_Latitude(NULL)", "ST_Length(NULL)",
		"ST_LineFromText('')", "ST_LineStringFromText('')", "ST_LineFromWKB('')", "ST_LineStringFromWKB('')", "ST_LineInterpolatePoint(NULL, 1)", "ST_LineInterpolatePoints(NULL, 1)", "ST_LongFromGeoHash('')", "ST_Longitude(NULL)", "ST_MakeEnvelope(NULL, NULL)",
		"ST_MLineFromText('')", "ST_MultiLineStringFromText('')", "ST_MLineFromWKB('')", "ST_MultiLineStringFromWKB('')", "ST_MPointFromText('')", "ST_MultiPointFromText('')", "ST_MPointFromWKB('')", "ST_MultiPointFromWKB('')", "ST_MPolyFromText('')",
		"ST_MultiPolygonFromText('')", "ST_MPolyFromWKB('')", "ST_MultiPolygonFromWKB('')", "ST_NumGeometries(NULL)", "ST_NumInteriorRing(NULL)", "ST_NumInteriorRings(NULL)", "ST_NumPoints(NULL)", "ST_Overlaps(NULL, NULL)", "ST_PointAtDistance(NULL, 1)", "ST_PointFromGeoHash('', 0)",
		"ST_PointFromText('')", "ST_PointFromWKB('')", "ST_PointN(NULL, 1)", "ST_PolyFromText('')", "ST_PolygonFromText('')", "ST_PolyFromWKB('')", "ST_PolygonFromWKB('')", "ST_Simplify(NULL, 1)", "ST_SRID(NULL)", "ST_StartPoint(NULL)", "ST_SwapXY(NULL)",
		"ST_SymDifference(NULL, NULL)", "ST_Touches(NULL, NULL)", "ST_Transform(NULL, 4326)", "ST_Union(NULL, NULL)", "ST_Validate(NULL)", "ST_Within(NULL, NULL)", "ST_X(NULL)", "ST_Y(NULL)"}},
	{title: "Replication", excluded: "there is no replication of MySQL's kind", probes: []string{"asynchronous_connection_failover_add_managed()", "asynchronous_connection_failover_add_source()", "asynchronous_connection_failover_delete_managed()",
		"asynchronous_connection_failover_delete_source()", "asynchronous_connection_failover_reset()", "group_replication_disable_member_action()", "group_replication_enable_member_action()", "group_replication_get_communication_protocol()",
		"group_replication_get_write_concurrency()", "group_replication_reset_member_actions()", "group_replication_set_as_primary()", "group_replication_set_communication_protocol()", "group_replication_set_write_concurrency()",
		"group_replication_switch_to_multi_primary_mode()", "group_replication_switch_to_single_primary_mode()", "GTID_SUBSET()", "GTID_SUBTRACT()", "MASTER_POS_WAIT()", "SOURCE_POS_WAIT()", "WAIT_FOR_EXECUTED_GTID_SET()"}},
	{title: "Internal", excluded: "MySQL keeps them for its own data dictionary", probes: []string{"CAN_ACCESS_COLUMN()", "CAN_ACCESS_DATABASE()", "CAN_ACCESS_TABLE()", "CAN_ACCESS_USER()", "CAN_ACCESS_VIEW()", "GET_DD_COLUMN_PRIVILEGES()", "GET_DD_CREATE_OPTIONS()",
		"GET_DD_INDEX_SUB_PART_LENGTH()", "INTERNAL_AUTO_INCREMENT()", "INTERNAL_AVG_ROW_LENGTH()", "INTERNAL_CHECK_TIME()", "INTERNAL_CHECKSUM()", "INTERNAL_DATA_FREE()", "INTERNAL_DATA_LENGTH()", "INTERNAL_DD_CHAR_LENGTH()",
		"INTERNAL_GET_COMMENT_OR_ERROR()", "INTERNAL_GET_ENABLED_ROLE_JSON()", "INTERNAL_GET_HOSTNAME()", "INTERNAL_GET_USERNAME()", "INTERNAL_GET_VIEW_WARNING_OR_ERROR()", "INTERNAL_INDEX_COLUMN_CARDINALITY()", "INTERNAL_INDEX_LENGTH()",
		"INTERNAL_IS_ENABLED_ROLE()", "INTERNAL_IS_MANDATORY_ROLE()", "INTERNAL_KEYS_DISABLED()", "INTERNAL_MAX_DATA_LENGTH()", "INTERNAL_TABLE_ROWS()", "INTERNAL_UPDATE_TIME()", "IS_VISIBLE_DD_OBJECT()"}},
}
