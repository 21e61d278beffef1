-- One row for each test with recorded sessions, most recent run first.
SELECT
    test_file AS file,
    test_suite AS suite,
    test_name AS name,
    count() AS total,
    countIf(state = 'success') AS passed,
    countIf(state = 'fail') AS failed,
    uniqExactIf(test_variant, test_variant != '') AS variants,
    sum(cost) AS cost,
    arrayMap(value -> if(isNaN(value), NULL, value), quantiles(0.5, 0.95)(duration)) AS durations,
    toUnixTimestamp64Milli(max(started_at)) AS last_run_ms
FROM
(
    SELECT test_file, test_suite, test_name, test_variant, started_at, cost, [[state]] AS state, [[duration]] AS duration
    FROM sessions FINAL
    WHERE [[conditions]]
)
GROUP BY file, suite, name
ORDER BY last_run_ms DESC, file, suite, name
LIMIT {limit:UInt32}
