import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { playhead } from '../test/run-playhead.ts'

const request = (id: number, method = 'tools/list', params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

const linesOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { id: unknown; error?: { code: number; message: string }; result?: unknown },
    )

test('answers in the protocol, and prints nothing else, if there is no server', async () => {
  const input = [
    request(1, 'initialize'),
    'not json',
    request(2),
    '{"jsonrpc":"2.0","method":"notifications/x"}',
    '',
  ]
  const { stdout, stderr, exitCode } = await playhead(['mcp'], {
    endpoint: 'http://127.0.0.1:9',
    stdin: input.join('\n'),
  })
  const answers = linesOf(stdout)
  expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, 2, null]))
  expect(answers.find(({ id }) => id === 1)?.error?.message).toContain('http://127.0.0.1:9')
  expect(answers.find(({ id }) => id === null)?.error?.code).toBe(-32_700)
  expect([stderr, exitCode]).toEqual(['', 0])
})

test('passes on headers, events and what a server that is not ours says', async () => {
  const seen: (string | undefined)[] = []
  const server = createServer((received, response) => {
    seen.push(received.headers['mcp-method'] as string | undefined)
    let body = ''
    received.on('data', (chunk: Buffer) => (body += chunk.toString()))
    received.on('end', () => {
      const { id } = JSON.parse(body) as { id: number }
      if (id === 1) {
        response.setHeader('content-type', 'text/event-stream')
        response.write(': hello\n\nevent: message\ndata: {"jsonrpc":"2.0",')
        response.end('"id":1,"result":{}}\n\n')
      } else if (id === 2)
        response.writeHead(403).end('{"error":{"code":"FORBIDDEN","message":"Not with this key."}}')
      else response.end('<html>')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }
  const { stdout } = await playhead(['mcp'], {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stdin: [request(1, 'tools/list', meta), request(2), request(3)].join('\n'),
  })
  server.close()
  const answers = new Map(linesOf(stdout).map((answer) => [answer.id, answer]))
  expect(answers.get(1)?.result).toEqual({})
  expect(answers.get(2)?.error?.message).toContain('Not with this key.')
  expect(answers.get(3)?.error?.message).toContain('not like a Playhead server')
  expect(seen.filter((method) => method !== undefined)).toEqual(['tools/list'])
})
