-- Searches look for words in `words`. In a store of an earlier version, this waits until the words of its steps are there.
ALTER TABLE steps[[local]] [[on_cluster]]
    DROP INDEX IF EXISTS text_index;
