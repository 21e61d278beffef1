// Runs all static checks in parallel and prints the output of those that failed.
import { spawn } from 'node:child_process'

const checks = ['format', 'lint', 'types', 'unused', 'licences']
const results = await Promise.all(checks.map(run))
const failed = results.filter((result) => result.code !== 0)

for (const { name, output } of failed) process.stdout.write(`\n── ${name} ──\n${output}\n`)
console.log(results.map(({ name, code }) => `${code === 0 ? 'ok  ' : 'FAIL'} ${name}`).join('\n'))
process.exitCode = failed.length === 0 ? 0 : 1

function run(name) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('close', (code) => resolve({ name, code, output }))
  })
}
