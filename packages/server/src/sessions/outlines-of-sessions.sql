-- The thin part of every step of some sessions, each step once: the row with the highest version. How large the heavy
-- part is stands in the version (payloadSize in steps-table.ts), so that no payload is read.
SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, [[outline]]
FROM steps
WHERE project = {project:String} AND session_id IN {ids:Array(String)}
ORDER BY session_id, step_id, version DESC, received_at DESC
LIMIT 1 BY session_id, step_id
