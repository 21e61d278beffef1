import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from '../../src/index.ts'

type Tool = { run: (given: { key: string }) => unknown; tell: (result: never) => unknown }

class Money {
  readonly cents: bigint

  constructor(cents: bigint) {
    this.cents = cents
  }

  format(): string {
    return `${this.cents / 100n}.${String(this.cents % 100n).padStart(2, '0')}`
  }
}

const attempts = new Map<string, number>()

/** Another number in every run, so that only the tape can repeat it. */
const number = () => Math.floor(Math.random() * 1e9)

/**
 * Tools whose results can't be made up again, and what the agent tells the model about them: it uses their type, so that
 * a result of another type makes another prompt.
 */
const definitions = {
  look_up: tool(
    async ({ key }) => {
      await sleep(Math.random() * 3)
      return { key, score: number(), tags: ['a', null] }
    },
    (result: object) => JSON.stringify(result),
  ),
  flaky: tool(
    async ({ key }) => {
      const attempt = (attempts.get(key) ?? 0) + 1
      attempts.set(key, attempt)
      if (attempt < 3) throw Object.assign(new Error(`no answer ${number()}`), { code: 'ETIMEDOUT' })
      return `answered ${number()}`
    },
    (text: string) => text,
  ),
  get_date: tool(
    async () => ({ at: new Date(number() * 1000) }),
    ({ at }: { at: Date }) => at.getTime().toString(36),
  ),
  get_map: tool(
    () =>
      new Map<string, unknown>([
        ['10', number()],
        ['9', new Map([['x', -0]])],
        ['a', 1],
      ]),
    (map: Map<string, unknown>) =>
      JSON.stringify([...map].map(([key, value]) => [key, value instanceof Map ? [...value] : value])),
  ),
  get_set: tool(
    async () => new Set([number(), number(), 'c']),
    (set: Set<unknown>) => `${set.size}: ${[...set].join(' ')}`,
  ),
  get_bigint: tool(
    () => BigInt(number()) ** 3n,
    (value: bigint) => (value * 3n).toString(),
  ),
  get_numbers: tool(
    () => ({ a: Number.NaN, b: -0, c: -Infinity, d: number() }),
    ({ a, b, c, d }: Record<string, number>) =>
      [Number.isNaN(a), Object.is(b, -0), c === -Infinity, d].join(' '),
  ),
  get_bytes: tool(
    async () => Buffer.from(randomUUID()),
    (bytes: Buffer) => bytes.toString('base64'),
  ),
  get_samples: tool(
    () => ({ samples: new Uint16Array([number() % 65_536, 7]) }),
    ({ samples }: { samples: Uint16Array }) => samples.join(','),
  ),
  get_nothing: tool(
    async () => undefined,
    (result: undefined) => typeof result,
  ),
  get_gaps: tool(
    () => ({ a: undefined, list: [undefined, number()] }),
    (result: { list: unknown[] }) => `${'a' in result} ${typeof result.list[0]} ${String(result.list[1])}`,
  ),
  get_money: tool(
    async () => new Money(BigInt(number())),
    (money: Money) => money.format(),
    { revive: ({ cents }: { cents: bigint }) => new Money(cents) },
  ),
  get_pages: tool(
    async function* () {
      for (let page = 0; page < 3; page += 1) {
        await sleep(0)
        yield { page, until: new Date(number()) }
      }
      return number()
    },
    async (pages: AsyncGenerator<{ page: number; until: Date }, number>) => {
      const seen: unknown[] = []
      let next = await pages.next()
      for (; next.done !== true; next = await pages.next())
        seen.push(next.value.page, next.value.until.getTime().toString(36))
      return [...seen, next.value].join(' ')
    },
  ),
  get_words: tool(
    function* () {
      for (const word of ['größer', ' 🏔️ ', String(number())]) yield word
    },
    (words: Generator<string>) => [...words].join('|'),
  ),
  get_json_text: tool(
    async () => JSON.stringify({ id: number() }),
    (text: string) => `${typeof text} ${text.length} ${text}`,
  ),
  get_link: tool(
    () => [new URL(`https://shop.test/${number()}?a=b`), /^a+$/gi],
    ([link, pattern]: [URL, RegExp]) => `${link.pathname} ${link.searchParams.get('a')} ${pattern.flags}`,
  ),
  get_settled: tool(
    () => Promise.allSettled([Promise.resolve(number()), Promise.reject(new TypeError(`no ${number()}`))]),
    ([one, other]: [PromiseFulfilledResult<number>, PromiseRejectedResult]) =>
      `${one.value} ${String(other.reason instanceof TypeError)} ${(other.reason as Error).message}`,
  ),
  fail_typed: tool(
    () => {
      throw Object.assign(new RangeError(`too far ${number()}`), { status: 404 })
    },
    () => '',
  ),
  fail_text: tool(
    async () => {
      // oxlint-disable-next-line typescript/only-throw-error -- hosts do
      throw `only text ${number()}`
    },
    () => '',
  ),
  /** A result that can't be recorded. */
  download: tool(
    async () => new Response(`file ${number()}`),
    (response: Response) => response.text(),
  ),
}

export type ToolName = keyof typeof definitions

const plainTools: readonly ToolName[] = ['look_up', 'flaky', 'download']
export const toolNames = Object.keys(definitions) as ToolName[]
export const oddTools: readonly ToolName[] = toolNames.filter((name) => !plainTools.includes(name))

const recorded = new Map<string, Tool>(
  Object.entries(definitions).map(([name, { run, tell, options }]) => [
    name,
    { run: playhead.recordTool({ name, effect: 'read', ...options }, run), tell },
  ]),
)

const MAX_ATTEMPTS = 3

/** Runs a tool as agents do: again after a timeout, and a failure is told to the model. */
export async function useTool(name: string, given: { key: string }): Promise<string> {
  const { run, tell } = recorded.get(name)!
  for (let attempt = 1; ; attempt += 1) {
    try {
      return String(await tell((await run(given)) as never))
    } catch (error) {
      const { name: type, code, status, message } = toError(error)
      if (code === 'ETIMEDOUT' && attempt < MAX_ATTEMPTS) continue
      return `failed: ${type} ${String(code)} ${String(status)} ${String(error instanceof RangeError)} ${message}`
    }
  }
}

function toError(error: unknown): { name: string; message: string; code?: unknown; status?: unknown } {
  return error instanceof Error ? error : { name: typeof error, message: String(error) }
}

function tool(
  run: (given: { key: string }) => unknown,
  tell: (result: never) => unknown,
  options: { revive?: (data: never) => unknown } = {},
): Tool & { options: { revive?: (data: never) => unknown } } {
  return { run, tell, options }
}
