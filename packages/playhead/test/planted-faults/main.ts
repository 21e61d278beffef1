import { parseArgs } from 'node:util'
import { diagnoseSession, wilson } from '@playhead/model'
import { faultNames, plantFaults, recordHealthy, type Verdict } from './campaign.ts'

const USAGE = `npm run planted-faults -- [--runs 10] [--healthy 1000] [--seed 1]

Plants ${faultNames.length} kinds of faults into two agents with real clients and a scripted model, --runs times each, and prints how often the first
suspect is the step with the fault. Then runs healthy sessions, with the small troubles that ordinary runs have, and prints how many show a
suspect. The same seed plants the same faults.`

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    healthy: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await main()) ? 0 : 1

async function main(): Promise<boolean> {
  const seed = Number(values.seed)
  const verdicts = await plantFaults({ runs: Number(values.runs), seed })
  for (const fault of faultNames)
    console.log(
      line(
        fault,
        verdicts.filter((verdict) => verdict.fault === fault),
      ),
    )
  console.log(line('all', verdicts))
  for (const { fault, agent, expected, named } of verdicts.filter(({ isNamed }) => !isNamed).slice(0, 20))
    console.log(`  ${fault}, ${agent}: expected ${expected}, named: ${named}`)
  const count = Number(values.healthy)
  const suspicious = (await recordHealthy({ count, seed })).flatMap((session) => {
    const { suspects } = diagnoseSession(session)
    return suspects.length > 0 ? [{ session, suspects }] : []
  })
  console.log(`healthy: ${suspicious.length} of ${count} show a suspect`)
  for (const { suspects, session } of suspicious.slice(0, 20))
    console.log(`  ${session.session.name}: ${suspects[0]!.sentence}`)
  const named = verdicts.filter(({ isNamed }) => isNamed).length
  return named >= 0.95 * verdicts.length && suspicious.length <= 0.02 * count
}

function line(name: string, verdicts: readonly Verdict[]): string {
  const named = verdicts.filter(({ isNamed }) => isNamed).length
  const { low, high } = wilson(named, verdicts.length)
  const share = (value: number) => `${(100 * value).toFixed(1)}%`
  return `${name.padEnd(18)} ${String(named).padStart(4)} of ${String(verdicts.length).padStart(4)} named first (${share(low)} to ${share(high)})`
}
