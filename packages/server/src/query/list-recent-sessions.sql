-- Returns the same page as list-sessions.sql in one pass. This is cheaper while the window holds few sessions, because
-- opening a column then costs more than reading its rows.
SELECT [[summary]], [[sort_key]] AS sort_key
FROM sessions FINAL
WHERE [[conditions]]
ORDER BY sort_key DESC, started_us DESC, session_id DESC
LIMIT {limit:UInt32}
SETTINGS use_query_condition_cache = 0
