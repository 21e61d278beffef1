// Asks the registry for known vulnerabilities in our shipped dependencies; high and critical ones fail.
import { spawn } from 'node:child_process'

const shipped = ['playhead', '@playhead/server', '@playhead/dashboard']
const serious = new Set(['high', 'critical'])

const report = await askRegistry()
if (report?.metadata?.vulnerabilities === undefined) {
  const why = report?.message ?? report?.error?.summary ?? 'no answer'
  console.log(`NOT AUDITED: the registry did not answer (${oneLine(why)}).`)
} else {
  const found = Object.values(report.vulnerabilities).filter(({ severity }) => serious.has(severity))
  for (const { name, severity, range, via } of found)
    console.log(
      `${name} ${range}: ${severity}${via.map((one) => (one.title ? `, ${one.title} ${one.url}` : '')).join('')}`,
    )
  const { dependencies } = report.metadata
  if (found.length === 0)
    console.log(`${dependencies?.prod ?? 'All'} packages: no known high or critical vulnerabilities.`)
  process.exitCode = found.length === 0 ? 0 : 1
}

/** Undefined if the answer can't be parsed. */
function askRegistry() {
  const scope = shipped.flatMap((name) => ['--workspace', name])
  const patience = ['--fetch-timeout=10000', '--fetch-retries=0']
  const child = spawn('npm', ['audit', '--json', '--omit=dev', ...scope, ...patience], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => {
    child.on('error', () => resolve(undefined))
    child.on('close', () => {
      try {
        resolve(JSON.parse(output))
      } catch {
        resolve(undefined)
      }
    })
  })
}

function oneLine(text) {
  return String(text)
    .replaceAll(/https?:\/\/\S+/g, 'its address')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 120)
}
