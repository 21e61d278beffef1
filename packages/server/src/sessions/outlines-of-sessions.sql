-- The outline of each step of some sessions, from the row with the highest version. The version includes the size of the
-- payload (payloadSize in steps-table.ts), so that this query reads no payloads.
SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, [[outline]]
FROM steps
WHERE project = {project:String} AND session_id IN {ids:Array(String)}
ORDER BY session_id, step_id, version DESC, received_at DESC
LIMIT 1 BY session_id, step_id
