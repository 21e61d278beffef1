-- The outline of each step of some sessions, from the row that counts (CURRENT_FIRST in steps-table.ts), followed by those of
-- its other copies. The version
-- includes the size of the payload (payloadSize), so that this query reads no payloads.
SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, arrival, [[is_finished]] AS is_finished, [[outline]]
FROM steps
WHERE project = {project:String} AND session_id IN {ids:Array(String)}
ORDER BY session_id, step_id, [[current_first]]
LIMIT 1 BY session_id, step_id, is_finished, arrival
