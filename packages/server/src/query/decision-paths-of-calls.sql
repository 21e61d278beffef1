-- Like decision-paths.sql, but a model call is labelled with the action it was made in: one model is called for many reasons.
SELECT
    step.session_id AS session_id,
    step.step_id AS step_id,
    step.step_started_at AS step_started_at,
    step.kind AS kind,
    if(step.kind = 'llm' AND parent_action.action != '', concat(parent_action.action, ' › ', step.label), step.label) AS label,
    concat(kind, ' ', label) AS key,
    step.effect AS effect,
    step.is_failed AS is_failed,
    step.step_duration_ms AS step_duration_ms
FROM ([[paths]]) AS step
LEFT JOIN
(
    SELECT session_id, step_id AS action_id, label AS action
    FROM ([[paths]])
    WHERE kind = 'action'
) AS parent_action ON step.session_id = parent_action.session_id AND step.parent_id = parent_action.action_id
