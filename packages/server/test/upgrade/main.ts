import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { checkOutVersion, startVersion, type RunningVersion } from './versions.ts'
import { describeDifferences, readEverything, sendSessions, type Everything } from './stored-sessions.ts'

const USAGE = `npm run upgrade -- [--from 713a13f] [--spans 100000]

Lets an earlier version of Playhead write a store, kills it, and opens the store with this version: every session must be as the
earlier version showed it, also those that were still in its log. Then restores a backup of the earlier version into an empty
store. Needs a clone with history. A fresh store of that version takes about a minute for 100,000 spans.`

const here = fileURLToPath(new URL('../../../..', import.meta.url))
const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '713a13f' },
    spans: { type: 'string', default: '100000' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await upgrade(values.from, Number(values.spans))) ? 0 : 1

async function upgrade(from: string, spans: number): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'playhead-upgrade-'))
  const data = join(folder, 'data')
  try {
    const earlier = await checkOutVersion(from, here, join(folder, 'earlier'))
    const written = await write(earlier, data, spans)
    console.log(`${from} wrote ${written.sent} spans in ${written.shown.sessions.size} sessions`)
    const opened = await using(here, data, (server) => readEverything(server.url))
    const restored = await using(here, join(folder, 'empty'), async (server) => {
      const response = await fetch(`${server.url}/api/restore`, {
        method: 'POST',
        body: new Uint8Array(written.backup),
        headers: { 'content-type': 'application/x-tar' },
      })
      if (!response.ok) throw new Error(`POST /api/restore: ${response.status} ${await response.text()}`)
      return readEverything(server.url)
    })
    const inLog = [...opened.sessions.keys()].filter((id) => !written.shown.sessions.has(id)).length
    return report([
      [
        'opened',
        [
          ...describeDifferences(written.shown, opened),
          ...(inLog === written.unseen
            ? []
            : [`${written.unseen} sessions were in the log, and ${inLog} are there now`]),
        ],
      ],
      ['restored from its backup', describeDifferences(written.shown, restored)],
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Written = { sent: number; shown: Everything; backup: ArrayBuffer; unseen: number }

/** Half a percent of the sessions is sent last, right before the server is killed. */
async function write(version: string, data: string, spans: number): Promise<Written> {
  const server = await startVersion(version, data)
  const sent = await sendSessions(server.url, { first: 0, spans })
  const shown = await readEverything(server.url)
  const backup = await (await fetch(`${server.url}/api/backup`)).arrayBuffer()
  const last = await sendSessions(server.url, { first: 1_000_000, spans: Math.ceil(spans / 200) })
  await server.end('SIGKILL')
  return { sent: sent.spans + last.spans, shown, backup, unseen: last.sessions }
}

async function using<Result>(
  root: string,
  data: string,
  use: (server: RunningVersion) => Promise<Result>,
): Promise<Result> {
  const server = await startVersion(root, data)
  try {
    return await use(server)
  } finally {
    await server.end('SIGTERM')
  }
}

function report(results: readonly [what: string, differences: readonly string[]][]): boolean {
  for (const [what, differences] of results) {
    console.log(
      `${what}: ${differences.length === 0 ? 'everything is there, as it was' : `${differences.length} differences`}`,
    )
    for (const line of differences.slice(0, 20)) console.log(`  ${line}`)
  }
  return results.every(([, differences]) => differences.length === 0)
}
