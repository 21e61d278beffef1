import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'

export type ExportQuery = {
  query: string
  params: Record<string, unknown>
  /** A format of ClickHouse. */
  format: string
  settings: ClickHouseSettings
}

/** Writes the rows of a query in a format, as a stream that never holds them all. */
export type ExportRows = (query: ExportQuery) => Promise<Readable>

/** A ClickHouse server streams what it writes. */
export function exportFromServer(client: ClickHouseClient): ExportRows {
  return async ({ query, params, format, settings }) => {
    const { stream } = await client.exec({
      query: `${query} FORMAT ${format}`,
      query_params: params,
      clickhouse_settings: settings,
    })
    return stream
  }
}

/** The embedded engine would return everything at once, so it writes a file, which is deleted after it was read. */
export function exportFromEngine(client: ClickHouseClient, folder: string): ExportRows {
  return async ({ query, params, format, settings }) => {
    const path = join(folder, `export-${randomUUID()}`)
    const remove = () => rm(path, { force: true })
    await mkdir(folder, { recursive: true })
    try {
      await client.command({
        query: `${query} INTO OUTFILE '${path.replaceAll(/['\\]/g, String.raw`\$&`)}' FORMAT ${format}`,
        query_params: params,
        clickhouse_settings: settings,
      })
    } catch (error) {
      await remove()
      throw error
    }
    const file = createReadStream(path)
    file.once('close', () => void remove())
    return file
  }
}
