-- The same page as list-sessions.sql finds, in one reading: cheaper while the window holds few sessions, because every
-- column that is opened costs more than the rows in it.
SELECT [[summary]], [[sort_key]] AS sort_key
FROM sessions FINAL
WHERE [[conditions]]
ORDER BY sort_key DESC, session_id DESC
LIMIT {limit:UInt32}
SETTINGS use_query_condition_cache = 0
