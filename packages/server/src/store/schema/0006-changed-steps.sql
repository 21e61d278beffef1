-- What the whole session makes of its steps, for the decision graph: actions that nobody recorded, and steps of another
-- kind than their row says or of none. Each is JSON (changedSteps in sessions-table.ts).
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS changed_steps Array(String) CODEC(ZSTD(1)) AFTER action_failed;

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS changed_steps Array(String) AFTER action_failed;
