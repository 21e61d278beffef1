import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createSecureServer } from 'node:https'
import { createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { expect, onTestFinished, test } from 'vitest'
import {
  AddressGuard,
  readAllowedTargets,
  type AllowedTargets,
  type Resolve,
} from '../../src/alerts/address-guard.ts'
import { sendHttp } from '../../src/alerts/send-http.ts'
import { sendMail, type MailServer } from '../../src/alerts/send-mail.ts'
import { receiverForThisTest } from './receiver.ts'

const allow = (text: string, resolve?: Resolve) =>
  new AddressGuard(readAllowedTargets(text) as AllowedTargets, resolve === undefined ? {} : { resolve })
const local = allow('127.0.0.1')
const message = (url: string) => ({ url, headers: {}, body: '{"a":1}' })

test('a name that changes its address between check and use is connected to where it was checked', async () => {
  const wanted = await receiverForThisTest('127.0.0.2')
  const other = await receiverForThisTest('127.0.0.1', wanted.port)
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return [{ address: asked.length === 1 ? '127.0.0.2' : '127.0.0.1' }]
  }
  const url = `http://rebind.test:${wanted.port}/hook`
  expect(await sendHttp(message(url), allow('127.0.0.2', resolve))).toEqual({
    result: 'delivered',
    status: 200,
  })
  expect(asked).toEqual(['rebind.test'])
  expect(wanted.received.map(({ headers }) => headers.host)).toEqual([`rebind.test:${wanted.port}`])
  expect(other.received).toEqual([])

  // Asked again, the name leads to where nobody may connect.
  expect(await sendHttp(message(url), allow('127.0.0.2', resolve))).toMatchObject({ result: 'unreachable' })
  expect(other.received).toEqual([])
})

test('nothing is sent to an address that is not allowed', async () => {
  const receiver = await receiverForThisTest()
  expect(await sendHttp(message(receiver.url), allow(''))).toEqual({
    result: 'unreachable',
    detail:
      '127.0.0.1 is not a public address. If the server may connect to it, add it to PLAYHEAD_ALERT_ALLOW and restart the server.',
  })
  const server: MailServer = { host: 'localhost', port: receiver.port, security: 'none' }
  const mail = { messageId: '<a@b>', from: 'a@b.c', to: ['a@b.c'], subject: 's', text: 't' }
  expect(await sendMail(mail, server, allow(''))).toMatchObject({ result: 'unreachable' })
  expect(receiver.received).toEqual([])
})

test('a redirect is not followed', async () => {
  const inside = await receiverForThisTest()
  const receiver = await receiverForThisTest()
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer = (response) => response.writeHead(status, { location: inside.url }).end()
    expect(await sendHttp(message(receiver.url), local)).toEqual({
      result: 'refused',
      status,
      detail: 'It answered with a redirect, which is not followed.',
    })
  }
  expect(inside.received).toEqual([])
})

test('an answer without an end is cut off, and one that never begins or is slow times out', async () => {
  const receiver = await receiverForThisTest()
  let written = 0
  receiver.answer = (response) => {
    response.writeHead(500)
    const fill = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) written += 16_384
    }
    response.on('drain', fill)
    fill()
  }
  const { status, detail } = await sendHttp(message(receiver.url), local)
  expect({ status, detail }).toEqual({ status: 500, detail: 'x'.repeat(200) })
  expect(written).toBeLessThan(16 * 1024 * 1024)

  receiver.answer = 'none'
  expect(await sendHttp(message(receiver.url), local, 200)).toEqual({
    result: 'unanswered',
    detail: 'No answer in time.',
  })
  // The status has arrived, the rest never does.
  receiver.answer = (response) => void response.writeHead(200, { 'content-length': '10' }).write('x')
  expect(await sendHttp(message(receiver.url), local, 200)).toEqual({ result: 'delivered', status: 200 })
  const dropped = (response: { destroy(): void }) => response.destroy()
  receiver.answer = dropped as never
  expect(await sendHttp(message(receiver.url), local)).toMatchObject({ result: 'unanswered' })
})

test('where nobody listens, or a name is not resolved in time, nothing was sent', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  expect(await sendHttp(message(`http://127.0.0.1:${port}/`), local)).toEqual({
    result: 'unreachable',
    detail: `No connection to 127.0.0.1:${port} (127.0.0.1): ECONNREFUSED.`,
  })
  const slow = allow('', () => new Promise(() => {}))
  expect(await sendHttp(message('http://slow.test/'), slow, 100)).toEqual({
    result: 'unreachable',
    detail: 'slow.test was not resolved in time.',
  })
})

/** A certificate for a name, signed by itself. */
function selfSigned(name: string): { key: string; cert: string } {
  const pem = execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      '-',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=DNS:${name}`,
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const part = (kind: string) => new RegExp(`-----BEGIN ${kind}-----[^]*?-----END ${kind}-----`).exec(pem)![0]
  return { key: part('PRIVATE KEY'), cert: part('CERTIFICATE') }
}

test('with TLS, the name is checked and sent although the address is pinned', async () => {
  const names: string[] = []
  const identity = selfSigned('hooks.test')
  const SNICallback = (name: string, done: (error: null) => void) => {
    names.push(name)
    done(null)
  }
  const server = createSecureServer({ ...identity, SNICallback }, (_, response) => response.end('ok'))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const guard = allow('127.0.0.1', async () => [{ address: '127.0.0.1' }])
  const send = (host: string) => sendHttp(message(`https://${host}:${port}/`), guard)
  // Nobody vouches for its certificate, so nothing is sent.
  expect(await send('hooks.test')).toEqual({
    result: 'unreachable',
    detail: `No connection to hooks.test:${port} (127.0.0.1): DEPTH_ZERO_SELF_SIGNED_CERT.`,
  })
  const authorities = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(authorities))
  setDefaultCACertificates([...authorities, identity.cert])
  expect(await send('hooks.test')).toEqual({ result: 'delivered', status: 200 })
  expect(await send('other.test')).toMatchObject({ result: 'unreachable' })
  expect(names).toEqual(['hooks.test', 'hooks.test', 'other.test'])
})

type Mailed = { from: string; to: string[]; data: string }

async function startMailServer(options: object = {}): Promise<{ port: number; mails: Mailed[] }> {
  const mails: Mailed[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onData(stream, session, done) {
      let data = ''
      stream.on('data', (chunk: Buffer) => (data += chunk.toString()))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          data,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  return { port: (listening.address() as { port: number }).port, mails }
}

const mail = {
  messageId: '<msg_1@playhead>',
  from: 'playhead@example.com',
  to: ['a@example.com', 'b@example.com'],
  subject: 'Firing: Failures',
  text: 'Everything fails.\n',
}

test('an e-mail arrives over SMTP, at the checked address', async () => {
  const { port, mails } = await startMailServer()
  let asked = 0
  const guard = allow('127.0.0.1', async () => [{ address: (asked += 1) === 1 ? '127.0.0.1' : '127.0.0.9' }])
  const server: MailServer = { host: 'mail.test', port, security: 'none' }
  expect(await sendMail(mail, server, guard)).toEqual({ result: 'delivered', status: 250 })
  expect(asked).toBe(1)
  expect(mails).toMatchObject([{ from: mail.from, to: mail.to }])
  expect(mails[0]!.data).toContain('Subject: Firing: Failures')
  expect(mails[0]!.data).toContain('Message-ID: <msg_1@playhead>')
  expect(mails[0]!.data).toContain('Everything fails.')
})

test('an e-mail server that refuses, wants TLS it does not have, or says nothing', async () => {
  const refusing = await startMailServer({
    onMailFrom: (_: unknown, __: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error('Not from you'), { responseCode: 550 })),
  })
  expect(
    await sendMail(mail, { host: '127.0.0.1', port: refusing.port, security: 'none' }, local),
  ).toMatchObject({ result: 'refused', status: 550 })
  // No STARTTLS: the password and the message stay here.
  const plain = await startMailServer()
  const outcome = await sendMail(mail, { host: '127.0.0.1', port: plain.port, security: 'starttls' }, local)
  expect(outcome).toMatchObject({ result: 'refused' })
  expect(plain.mails).toEqual([])

  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as { port: number }
  expect(await sendMail(mail, { host: '127.0.0.1', port, security: 'none' }, local, 200)).toEqual({
    result: 'unanswered',
    detail: 'No answer in time.',
  })
})
