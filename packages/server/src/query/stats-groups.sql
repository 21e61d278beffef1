-- A session counts once in a group, however many calls it has there. Cost, tokens and durations are summed over calls.
SELECT
    key,
    uniqExact(session_id) AS total,
    uniqExactIf(session_id, state = 'success') AS success,
    uniqExactIf(session_id, state = 'fail') AS fail,
    uniqExactIf(session_id, state = 'indeterminate') AS indeterminate,
    uniqExactIf(session_id, state = 'running') AS running,
    uniqExactIf(session_id, state = 'lost') AS lost,
    sum(item.2) AS cost,
    mapFilter((name, value) -> isNotNull(value), map('input', sum(item.3), 'output', sum(item.4))) AS usage,
    arrayMap(value -> if(isNaN(value), NULL, value), quantiles(0.5, 0.95, 0.99)(item.5)) AS durations,
    count() AS calls,
    countIf(item.6 = 1) AS failed_calls,
    argMax(item.7, started_at) AS example,
    argMaxIf(item.8, started_at, item.8 != '') AS action,
    argMax(session_id, started_at) AS last_session
FROM
(
    SELECT session_id, started_at, [[state]] AS state, arrayJoin([[items]]) AS item, item.1 AS key
    FROM sessions FINAL
    WHERE [[conditions]]
)
WHERE key != ''
GROUP BY key
ORDER BY total DESC, key
LIMIT {limit:UInt32}
