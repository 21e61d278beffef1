-- The inner query finds the sessions of the page and reads only the columns of the filter and the sort order. The outer query
-- reads the other columns of those few sessions.
SELECT [[summary]], [[sort_key]] AS sort_key
FROM sessions FINAL
WHERE project = {project:String}
  AND (bucket, session_id) IN (
    SELECT bucket, session_id
    FROM sessions FINAL
    WHERE [[conditions]]
    ORDER BY [[sort_key]] DESC, session_id DESC
    LIMIT {limit:UInt32}
  )
ORDER BY sort_key DESC, session_id DESC
SETTINGS use_query_condition_cache = 0
