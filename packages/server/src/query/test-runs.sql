-- The most recent sessions of each test, newest first.
SELECT
    test_file AS file,
    test_suite AS suite,
    test_name AS name,
    session_id,
    [[state]] AS state,
    toUnixTimestamp64Milli(started_at) AS started_ms,
    [[duration]] AS duration_ms,
    cost,
    test_attempt AS attempt,
    test_variant AS variant,
    test_run_id AS run_id,
    branch,
    commit
FROM sessions FINAL
WHERE [[conditions]]
ORDER BY started_at DESC, session_id DESC
LIMIT {runs:UInt32} BY file, suite, name
