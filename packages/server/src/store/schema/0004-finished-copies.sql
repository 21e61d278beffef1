-- Keeps every copy of a span that has ended: `arrival` numbers them in the order of their arrival (arrivalOf in
-- steps-table.ts). Rows from before have 0 and come first.
ALTER TABLE steps[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS arrival Int64 CODEC(Delta(8), ZSTD(1)) AFTER version,
    MODIFY ORDER BY (project, session_id, started_at, step_id, arrival);

ALTER TABLE steps [[on_cluster]]
    ADD COLUMN IF NOT EXISTS arrival Int64 AFTER version;
