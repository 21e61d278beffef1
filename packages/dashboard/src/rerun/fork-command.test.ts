import { expect, test } from 'vitest'
import { devCommand, forkCommand } from './fork-command.ts'

const local = { origin: 'http://localhost:4318', project: 'default', isDefaultProject: true }
const sessionId = '1a2b3c4d'.padEnd(32, '0')

test('the command names session, step and edit', () => {
  expect(forkCommand({ sessionId, stepNumber: 5, edit: { result: 'c_42' }, times: 5 }, local)).toBe(
    `npx playhead fork s_1a2b3c4d --at 5 --result '"c_42"' --times 5`,
  )
  expect(forkCommand({ sessionId, stepNumber: 5, edit: undefined, times: 1 }, local)).toBe(
    'npx playhead fork s_1a2b3c4d --at 5',
  )
})

test('a value that looks like an option, and quotes', () => {
  const edit = { prompt: '--help', system: "it's" }
  expect(forkCommand({ sessionId, stepNumber: 1, edit, times: 1 }, local)).toBe(
    String.raw`npx playhead fork s_1a2b3c4d --at 1 --system 'it'\''s' --prompt=--help`,
  )
})

test('another server and project are named', () => {
  const server = { origin: 'https://playhead.example', project: 'my shop', isDefaultProject: false }
  expect(devCommand(server)).toBe("npx playhead dev --endpoint https://playhead.example --project 'my shop'")
  expect(devCommand(local)).toBe('npx playhead dev')
})
