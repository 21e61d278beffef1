import { formatAge, shortSessionId } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { parseExpiry } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Share = {
  id: string
  sessionId: string
  hasContent: boolean
  createdBy: string
  createdAt: string
  expiresAt: string
  revokedAt: string | null
  opens: number
  lastOpenedAt: string | null
}

const json = { type: 'flag', summary: "Print the API's response" } as const

export const shareCommand = defineCommand({
  name: 'share',
  arguments: ['session'],
  summary: 'Create a link that shows one session to people without a login',
  details: `<session> is an id or its first digits, "last" or "last-failed". Only the link goes to stdout, and it is shown
once. Whoever has it can replay the session and nothing else, until it expires or you revoke it.`,
  options: {
    expires: {
      type: 'text',
      value: 'when',
      summary: 'When it stops working: 12h, 30d, 2027-01-31 (default: 7d, at most a year)',
    },
    'without-content': {
      type: 'flag',
      summary: 'Leave out prompts, arguments, results and messages; names, times and costs stay',
    },
    json,
  },
  examples: [
    ['playhead share last-failed', 'A link to the failure that you want to show'],
    ['playhead share s_1a2b3c4d --expires 24h --without-content', 'For a day, without what was said'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const body = {
      ...(options.expires !== undefined && { expiresAt: parseExpiry(options.expires, Date.now()) }),
      ...(options['without-content'] === true && { hasContent: false }),
    }
    const path = `/api/sessions/${await findSessionId(api, positionals[0] ?? '')}/shares`
    const answer = await api.json<{ share: Share; url: string }>(path, { method: 'POST', body })
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    const { sessionId, expiresAt, hasContent, id } = answer.share
    const until = plainLine(expiresAt).slice(0, 16).replace('T', ' ')
    terminal.note(
      `Shared ${shortSessionId(sessionId)} ${hasContent ? 'with' : 'without'} content until ${until} UTC. Revoke it with: playhead unshare ${plainLine(id)}`,
    )
    terminal.print(plainLine(answer.url))
  },
})

export const sharesCommand = defineCommand({
  name: 'shares',
  summary: 'List share links: who made them, until when they work, how often they were opened',
  options: {
    session: {
      type: 'text',
      value: 'id',
      summary: 'Only links to one session: an id, "last" or "last-failed"',
    },
    json,
  },
  examples: [
    ['playhead shares', 'All links of the project'],
    ['playhead shares --session last --json', 'The links to the newest session, for a script'],
  ],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const session = options.session === undefined ? undefined : await findSessionId(api, options.session)
    const answer = await api.json<{ shares: Share[] }>('/api/shares', { query: { session } })
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.shares.length === 0)
      return terminal.note('There are no share links. Create one with: playhead share <session>')
    printShares(answer.shares, terminal)
  },
})

export const unshareCommand = defineCommand({
  name: 'unshare',
  arguments: ['id'],
  summary: 'Revoke a share link; it stops working immediately',
  options: { json },
  examples: [
    ['playhead unshare 6f1c2c0e-4f1d-4c8e-9a65-0a4b8f0e7d11', 'Use an id from: playhead shares'],
    ['playhead unshare https://playhead.example/shared/6f1c2c0e-…', 'Or the link itself'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const typed = positionals[0] ?? ''
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const id = /\/shared\/([\w-]+)/.exec(typed)?.[1] ?? typed
    const share = await api.json<Share>(`/api/shares/${encodeURIComponent(id)}`, { method: 'DELETE' })
    if (options.json === true) return terminal.print(printableJson(share, 2))
    terminal.note(`Revoked the link to ${shortSessionId(share.sessionId)}. It was opened ${times(share)}.`)
  },
})

function printShares(shares: readonly Share[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const share of shares)
      terminal.print(
        [
          share.id,
          share.sessionId,
          share.hasContent ? 'content' : 'no content',
          share.createdBy,
          share.createdAt,
          share.expiresAt,
          share.revokedAt ?? '',
          String(share.opens),
          share.lastOpenedAt ?? '',
        ]
          .map(plainLine)
          .join('\t'),
      )
    return
  }
  const nowMs = Date.now()
  const columns = [
    { title: 'ID', text: ({ id }: Share) => plainLine(id) },
    { title: 'Session', text: ({ sessionId }: Share) => shortSessionId(plainLine(sessionId)) },
    { title: 'Content', text: ({ hasContent }: Share) => (hasContent ? 'yes' : 'left out'), dropOrder: 3 },
    { title: 'By', text: ({ createdBy }: Share) => plainLine(createdBy), dropOrder: 2 },
    { title: 'Created', text: ({ createdAt }: Share) => formatAge(createdAt, nowMs), dropOrder: 1 },
    { title: 'Opened', text: (share: Share) => describeOpens(share, nowMs) },
    { title: 'State', text: (share: Share) => describeState(share, nowMs) },
  ]
  terminal.print(renderTable(columns, shares, terminal))
}

function describeOpens(share: Share, nowMs: number): string {
  return share.lastOpenedAt === null ? 'never' : `${times(share)}, ${formatAge(share.lastOpenedAt, nowMs)}`
}

function times({ opens }: Share): string {
  return opens === 1 ? 'once' : `${opens} times`
}

function describeState({ revokedAt, expiresAt }: Share, nowMs: number): string {
  if (revokedAt !== null) return '✗ revoked'
  const day = plainLine(expiresAt).slice(0, 10)
  return Date.parse(expiresAt) > nowMs ? `✓ until ${day}` : `✗ expired ${day}`
}
