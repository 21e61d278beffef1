-- Whoever opens a session reads it from one part or two, but each part has a place where it might be. The index tells without
-- reading that place. Merges build it: for a segment, two more files would cost more than they save (flush-segment.ts).
ALTER TABLE steps[[local]] [[on_cluster]]
    ADD INDEX IF NOT EXISTS session_index session_id TYPE bloom_filter(0.01) GRANULARITY 1;
