-- The steps of a graph: how often each occurred, in how many sessions, and how long it took.
SELECT
    key,
    any(kind) AS kind,
    any(label) AS name,
    max(effect = 'write') AS is_write,
    count() AS times,
    uniqExact(session_id) AS sessions,
    countIf(is_failed) AS errors,
    if(isNaN(quantile(0.9)(step_duration_ms)), NULL, quantile(0.9)(step_duration_ms)) AS p90_ms
FROM ([[paths]])
GROUP BY key
ORDER BY sessions DESC, key
LIMIT {steps:UInt32}
