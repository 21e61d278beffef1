import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startScriptedModel } from '@playhead/scripted-model'
import { atModelSpeed } from '../examples/support-agent/src/at-model-speed.ts'
import { answerAsSupport } from '../examples/support-agent/src/model-script.ts'

export type DevTerminal = {
  /** The last pairing link that it printed and that was not asked for yet. */
  link(): Promise<string>
  stop(): Promise<void>
}

const cli = fileURLToPath(new URL('../packages/playhead/src/cli/main.ts', import.meta.url))
export const agentFolder = fileURLToPath(new URL('../examples/support-agent', import.meta.url))

/** What a command of the CLI prints in the folder of the example agent. */
export async function runInAgentFolder(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['--conditions=playhead-source', cli, ...words], { cwd: agentFolder })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await once(child, 'close')
  return output
}

/** A real `playhead dev` in the folder of the example agent, which has its bug and asks a scripted model. */
export async function startDevTerminal(endpoint: string): Promise<DevTerminal> {
  const model = await startScriptedModel(atModelSpeed(answerAsSupport))
  const child = spawn(
    process.execPath,
    ['--conditions=playhead-source', cli, 'dev', '--endpoint', endpoint],
    {
      cwd: agentFolder,
      env: {
        ...process.env,
        OPENAI_BASE_URL: `${model.url}/v1`,
        OPENAI_API_KEY: 'none',
        SUPPORT_AGENT_FAULT: 'customer_id',
        PLAYHEAD_SPOOL: 'off',
      },
    },
  )
  let output = ''
  let used = 0
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const findLink = () => [...output.matchAll(/https?:\/\/\S+\/pair\S*#[\w-]+/g)][used]?.[0]
  return {
    async link() {
      for (let link = findLink(); ; link = findLink()) {
        if (link !== undefined) {
          used += 1
          return link
        }
        if (child.exitCode !== null) throw new Error(`playhead dev exited with ${child.exitCode}:\n${output}`)
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      }
    },
    async stop() {
      child.kill('SIGINT')
      if (child.exitCode === null) await once(child, 'exit')
      await model.stop()
    },
  }
}
