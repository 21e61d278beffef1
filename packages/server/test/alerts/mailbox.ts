import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'

export type ReceivedMail = { from: string; to: string[]; subject: string; text: string }

/** A real SMTP server with a password, for one test. */
export async function startMailbox(): Promise<{ port: number; password: string; mails: ReceivedMail[] }> {
  const password = 'for the mailbox'
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (given, _, done) =>
      given.password === password ? done(null, { user: given.username }) : done(new Error('Wrong password')),
    onData(stream, { envelope }, done) {
      let data = ''
      stream.on('data', (chunk: Buffer) => (data += chunk.toString()))
      stream.on('end', () => {
        mails.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          subject: /^Subject: (.*(?:\r\n\s.*)*)/m.exec(data)?.[1]?.replaceAll(/\r\n\s/g, ' ') ?? '',
          text: data.replaceAll('=\r\n', '').replaceAll('=3D', '='),
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  return { port: (listening.address() as { port: number }).port, password, mails }
}
