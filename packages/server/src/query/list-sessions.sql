-- The inner query finds which sessions are on the page from the columns that the filter and the order need; only those
-- few are then read whole.
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
