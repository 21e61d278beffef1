-- The thin part of every step of some sessions, each step once: the row with the highest version.
SELECT session_id, segment, toUnixTimestamp64Milli(received_at) AS received_ms, length(attributes) + length(events) AS payload_size, [[outline]]
FROM steps
WHERE project = {project:String} AND session_id IN {ids:Array(String)}
ORDER BY session_id, started_at, step_id, version DESC, received_at DESC
LIMIT 1 BY session_id, step_id
