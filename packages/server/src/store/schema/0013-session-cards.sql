-- What a list shows of a session, as JSON (toCard in sessions-table.ts). Empty in rows of earlier versions.
ALTER TABLE sessions[[local]] [[on_cluster]]
    ADD COLUMN IF NOT EXISTS card String CODEC(ZSTD(3)) AFTER changed_steps;

ALTER TABLE sessions [[on_cluster]]
    ADD COLUMN IF NOT EXISTS card String AFTER changed_steps;
