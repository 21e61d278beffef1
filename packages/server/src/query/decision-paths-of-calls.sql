-- The same, with model calls named after the action that they were made in: one model is called for many reasons.
SELECT
    taken.session_id AS session_id,
    taken.step_id AS step_id,
    taken.step_started_at AS step_started_at,
    taken.kind AS kind,
    if(taken.kind = 'llm' AND around.action != '', concat(around.action, ' › ', taken.label), taken.label) AS label,
    concat(kind, ' ', label) AS key,
    taken.effect AS effect,
    taken.is_failed AS is_failed,
    taken.step_duration_ms AS step_duration_ms
FROM ([[paths]]) AS taken
LEFT JOIN
(
    SELECT session_id, step_id AS action_id, label AS action
    FROM ([[paths]])
    WHERE kind = 'action'
) AS around ON taken.session_id = around.session_id AND taken.parent_id = around.action_id
