import { request } from 'node:http'
import { join } from 'node:path'
import { socketPath } from '../../packages/server/src/store/engine/socket-path.ts'
import type { Figure } from '../harness/report.ts'

const SHOWN_COLUMNS = 4

/** The size of the index of words and of the largest columns of `steps`. */
export async function readColumnSizes(directory: string, spans: number): Promise<Figure[]> {
  const columns = await queryEngine<{ name: string; bytes: string }>(
    directory,
    `SELECT column AS name, sum(column_data_compressed_bytes) AS bytes FROM system.parts_columns
      WHERE active AND table = 'steps' AND database = 'playhead' GROUP BY column ORDER BY bytes DESC LIMIT ${SHOWN_COLUMNS}`,
  )
  const indexes = await queryEngine<{ name: string; bytes: string }>(
    directory,
    `SELECT name, data_compressed_bytes AS bytes FROM system.data_skipping_indices
      WHERE table = 'words' AND database = 'playhead' AND name = 'words_index'`,
  )
  return [...indexes, ...columns].map(({ name, bytes }) => ({
    what: `  of that, ${name}`,
    figure: Number(bytes) / spans,
    unit: 'bytes',
  }))
}

/** The API only reports the size of tables, so this queries the engine directly. */
function queryEngine<Row>(directory: string, sql: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const path = { socketPath: socketPath(join(directory, 'store'), 'engine.sock'), path: '/' }
    const sent = request({ ...path, method: 'POST' }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(text))
        resolve(
          text
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as Row),
        )
      })
    })
    sent.on('error', reject)
    sent.end(`${sql} FORMAT JSONEachRow`)
  })
}
