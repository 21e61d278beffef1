-- The steps of some traces, each once, with their label in the graph. Reads no payloads.
SELECT
    session_id,
    step_id,
    parent_id,
    started_at AS step_started_at,
    toString(kind) AS kind,
    multiIf(kind = 'action' AND tool != '', toString(tool), kind = 'agent' AND agent != '', toString(agent), kind = 'llm' AND model != '', toString(model), name) AS label,
    concat(kind, ' ', label) AS key,
    toString(effect) AS effect,
    status IN ('error', 'soft-error') AS is_failed,
    if(ended_at IS NULL, NULL, (toUnixTimestamp64Micro(assumeNotNull(ended_at)) - toUnixTimestamp64Micro(started_at)) / 1000) AS step_duration_ms
FROM steps
WHERE project = {project:String}
  AND session_id IN ([[traces]])
  AND [[steps]]
ORDER BY session_id, step_id, [[current_first]]
LIMIT 1 BY session_id, step_id
