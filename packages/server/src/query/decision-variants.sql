-- Groups sessions by their path: the labels of their steps in start order, without direct repetitions.
SELECT
    path,
    count() AS sessions,
    countIf(state = 'success') AS success,
    countIf(state = 'fail') AS fail,
    countIf(state = 'indeterminate') AS indeterminate,
    countIf(state = 'running') AS running,
    countIf(state = 'lost') AS lost,
    sum(chosen.cost) AS total_cost,
    count(chosen.cost) AS priced,
    arraySlice(arrayMap(item -> item.2, arrayReverseSort(groupArrayIf((started_at, session_id), state = 'success'))), 1, 3) AS passed_examples,
    arraySlice(arrayMap(item -> item.2, arrayReverseSort(groupArrayIf((started_at, session_id), state = 'fail'))), 1, 3) AS failed_examples,
    argMax(session_id, started_at) AS example
FROM ([[chosen]]) AS chosen
LEFT JOIN
(
    SELECT session_id, arraySlice(arrayCompact(arrayMap(item -> item.2, arraySort(groupArray((step_started_at, key, step_id))))), 1, {longest:UInt32}) AS path
    FROM ([[paths]])
    GROUP BY session_id
) AS paths USING (session_id)
GROUP BY path
ORDER BY sessions DESC, path
LIMIT {variants:UInt32}
