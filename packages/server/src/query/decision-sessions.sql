-- The sessions whose path meets a condition, newest first.
SELECT [[summary]]
FROM sessions FINAL
WHERE project = {project:String}
  AND session_id IN (
    SELECT session_id
    FROM ([[chosen]]) AS chosen
    LEFT JOIN
    (
        SELECT session_id, arraySlice(arrayCompact(arrayMap(item -> item.2, arraySort(groupArray((step_started_at, key, step_id))))), 1, {longest:UInt32}) AS path
        FROM ([[paths]])
        GROUP BY session_id
    ) AS paths USING (session_id)
    WHERE [[path_condition]]
  )
ORDER BY started_at DESC, session_id DESC
LIMIT {limit:UInt32}
