/** The text of a step that full-text search looks at. Index and queries must use the identical expression. */
export const SEARCH_TEXT =
  "lower(replaceAll(replaceAll(concat(name, ' ', attributes, ' ', events), '\\\\n', ' '), '\\\\t', ' '))"

/** Fills in a schema template for a single node (no cluster) or for a cluster; the file's head says what the marks mean. */
export function renderSchema(template: string, cluster: string | undefined): string[] {
  const text = template
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll('[[local]]', cluster === undefined ? '' : '_local')
    .replaceAll('[[on_cluster]]', cluster === undefined ? '' : onCluster(cluster))
    .replaceAll('[[search_text]]', SEARCH_TEXT)
    .replaceAll(/\[\[sharded\((.*)\)\]\]/g, (_, engine: string) => replicated(engine, '{shard}', cluster))
    .replaceAll(/\[\[everywhere\((.*)\)\]\]/g, (_, engine: string) => replicated(engine, 'all', cluster))
    .replaceAll(/\[\[distribute\((\w+), (.*)\)\]\]/g, (_, table: string, key: string) =>
      distributed(table, key, cluster),
    )
  return text
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

function onCluster(cluster: string): string {
  return `ON CLUSTER '${cluster}'`
}

function replicated(engine: string, shard: string, cluster: string | undefined): string {
  if (cluster === undefined) return engine
  const [, name, columns] = /^(\w+)(?:\((.*)\))?$/.exec(engine)!
  const path = `'/clickhouse/tables/${shard}/{database}/{table}', '{replica}'`
  return `Replicated${name}(${columns === undefined ? path : `${path}, ${columns}`})`
}

function distributed(table: string, key: string, cluster: string | undefined): string {
  if (cluster === undefined) return ''
  return (
    `CREATE TABLE IF NOT EXISTS ${table} ${onCluster(cluster)} AS ${table}_local ` +
    `ENGINE = Distributed('${cluster}', currentDatabase(), '${table}_local', ${key})`
  )
}
