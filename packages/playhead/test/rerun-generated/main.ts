import { parseArgs } from 'node:util'
import { clients, traits, type ClientName, type Trait } from './plan.ts'
import { rerunGenerated, type Verdict } from './rerun-generated.ts'

const USAGE = `npm run rerun-generated -- [--sessions 200] [--seed 1] [--in child|process]

Records generated agents (streams, parallel calls, retries, nested agents, results that are not plain JSON) of six clients with a
scripted model, stops the model, and runs each stored session again from its tape. Prints how many ended the same, and why others did not.
The same seed generates the same agents.`

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    in: { type: 'string', default: 'child' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await main()) ? 0 : 1

async function main(): Promise<boolean> {
  const verdicts = await rerunGenerated({
    sessions: Number(values.sessions),
    seed: Number(values.seed),
    place: values.in === 'process' ? 'process' : 'child',
    onProgress: (line) => console.log(line),
  })
  console.log(renderTable(verdicts))
  return verdicts.filter(({ isSame }) => isSame).length >= verdicts.length * 0.95
}

function renderTable(verdicts: readonly Verdict[]): string {
  const rows: [string, readonly Verdict[]][] = [
    ...traits.map((trait): [Trait, Verdict[]] => [
      trait,
      verdicts.filter(({ plan }) => plan.traits.includes(trait)),
    ]),
    ...clients.map((client): [ClientName, Verdict[]] => [
      client,
      verdicts.filter(({ plan }) => plan.client === client),
    ]),
    ['all', verdicts],
  ]
  const lines = rows.map(([name, some]) => {
    const same = some.filter(({ isSame }) => isSame).length
    return `${name.padEnd(18)}${String(same).padStart(4)} of ${String(some.length).padStart(3)} the same`
  })
  const others = verdicts.flatMap(({ plan, reason }) =>
    reason === undefined ? [] : [`${plan.name} (${plan.client}): ${reason}`],
  )
  return [...lines, ...others].join('\n')
}
