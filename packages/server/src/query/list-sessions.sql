-- The inner query finds the sessions of the page and reads only the columns of the filter and the sort order. The outer query
-- reads the other columns of those few sessions. Of equal ones, the newest come first: many sessions have the same score, and
-- new ones lie beside each other.
SELECT [[summary]], [[sort_key]] AS sort_key
FROM sessions FINAL
WHERE project = {project:String}
  AND (bucket, session_id) IN (
    SELECT bucket, session_id
    FROM sessions FINAL
    WHERE [[conditions]]
    ORDER BY [[sort_key]] DESC, toUnixTimestamp64Micro(started_at) DESC, session_id DESC
    LIMIT {limit:UInt32}
  )
ORDER BY sort_key DESC, started_us DESC, session_id DESC
SETTINGS use_query_condition_cache = 0
