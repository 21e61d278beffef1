-- The steps of the chosen sessions as the replay shows them: what a whole session makes of its steps replaces their rows
-- (`changedSteps` in sessions-table.ts).
SELECT session_id, step_id, parent_id, step_started_at, kind, label, key, effect, is_failed, step_duration_ms
FROM ([[stored]])
WHERE (session_id, step_id) NOT IN (
    SELECT session_id, JSONExtractString(arrayJoin(changed_steps), 'id') FROM ([[chosen]])
)
UNION ALL
SELECT
    session_id,
    JSONExtractString(step, 'id') AS step_id,
    JSONExtractString(step, 'parentId') AS parent_id,
    fromUnixTimestamp64Nano(JSONExtractInt(step, 'startedUs') * 1000) AS step_started_at,
    JSONExtractString(step, 'kind') AS kind,
    JSONExtractString(step, 'label') AS label,
    concat(kind, ' ', label) AS key,
    JSONExtractString(step, 'effect') AS effect,
    JSONExtractBool(step, 'isFailed') AS is_failed,
    JSONExtract(step, 'durationMs', 'Nullable(Float64)') AS step_duration_ms
FROM (SELECT session_id, arrayJoin(changed_steps) AS step FROM ([[chosen]]))
WHERE [[steps]]
