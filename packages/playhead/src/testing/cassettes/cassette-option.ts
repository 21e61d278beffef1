import { fail, isRecord, requireList, requireText } from '@playhead/model'

/** The option `cassette` of a test: true for the usual file, or the file, relative to the test. */
export type CassetteOption = boolean | string | CassetteSettings

export type CassetteSettings = {
  /** Relative to the test. */
  file?: string | undefined
  /** Text that differs from run to run, besides ids and times. */
  volatile?: readonly RegExp[] | undefined
  /** Programs that the test may start although nothing may reach the network. */
  allowSpawn?: readonly string[] | undefined
}

/** Undefined for a test without a cassette. Throws a sentence if the option has a wrong value. */
export function readCassetteOption(option: unknown): CassetteSettings | undefined {
  if (option === undefined || option === false) return undefined
  if (option === true) return {}
  if (typeof option === 'string') return { file: requireFile(option) }
  if (!isRecord(option)) return fail('The option cassette', 'must be true, a file or an object', option)
  const { file, volatile, allowSpawn } = option
  const patterns = volatile === undefined ? [] : requireList(volatile, 'The option cassette.volatile')
  for (const pattern of patterns)
    if (!(pattern instanceof RegExp))
      fail('Each item of the option cassette.volatile', 'must be a regular expression', pattern)
  return {
    ...(file !== undefined && { file: requireFile(file) }),
    ...(volatile !== undefined && { volatile: patterns as readonly RegExp[] }),
    ...(allowSpawn !== undefined && {
      allowSpawn: requireList(allowSpawn, 'The option cassette.allowSpawn').map((name) =>
        requireText(name, 'Each item of the option cassette.allowSpawn'),
      ),
    }),
  }
}

function requireFile(file: unknown): string {
  const text = requireText(file, 'The file of the option cassette')
  return text === '' ? fail('The file of the option cassette', 'must have a name', text) : text
}

/** Takes the option out of the options that a runner gets. Repeating a test on a cassette proves nothing. */
export function takeCassetteOption<Options extends object>(
  options: Options,
): { cassette: CassetteSettings | undefined; rest: Omit<Options, 'cassette'> } {
  const { cassette: option, ...rest } = options as Options & { cassette?: unknown }
  const cassette = readCassetteOption(option)
  const { repeat, repeats } = rest as { repeat?: unknown; repeats?: unknown }
  const isRepeated = typeof repeat === 'object' || (Number(repeat) || 0) > 1 || (Number(repeats) || 0) > 0
  if (cassette !== undefined && isRepeated && cassetteMode() !== 'live')
    throw new TypeError(
      'A cassette gives the same answers in every run, so repeating the test proves nothing. Leave out one of them, or run it live: PLAYHEAD_CASSETTE=live.',
    )
  return { cassette, rest }
}

/** The default of vitest and jest. */
const USUAL_TIMEOUT_MS = 5_000
const CASSETTE_TIMEOUT_MS = 30_000

/**
 * How long a test with a cassette may take if nobody decided it. Its first run compiles and loads the agent, which can take
 * longer on a busy machine than the runner gives a test.
 */
export function cassetteTimeoutMs(configuredMs: number = USUAL_TIMEOUT_MS): number | undefined {
  return configuredMs === USUAL_TIMEOUT_MS ? CASSETTE_TIMEOUT_MS : undefined
}

const modes = ['strict', 'fill', 'record', 'live'] as const

/**
 * What tests do with their cassettes. `strict`: nothing reaches the network. `fill`: what is missing is made and recorded.
 * `record`: everything is recorded anew. `live`: no cassette is read or written.
 */
export type CassetteMode = (typeof modes)[number]

/** As `PLAYHEAD_CASSETTE` says; else strict in CI and fill on a developer's machine. */
export function cassetteMode(environment: NodeJS.ProcessEnv = process.env): CassetteMode {
  const { PLAYHEAD_CASSETTE: given = '', CI: ci = '' } = environment
  if (given === '') return ci === '' || ci === 'false' || ci === '0' ? 'fill' : 'strict'
  const found = modes.find((mode) => mode === given)
  return found ?? fail('PLAYHEAD_CASSETTE', `must be one of ${modes.join(', ')}`, given)
}
