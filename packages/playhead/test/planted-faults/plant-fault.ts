import type { Random } from '../../../model/test/random.ts'
import type { Episode, PlannedCall, PlannedTurn } from './episode.ts'

/** Where a fault was planted: the turn of the model, or the call of a tool in it. */
export type Truth = { turn: number; call?: number }

export type FaultName = keyof typeof faults

/** Plants a fault into a healthy episode and says which step is to blame. */
export const faults = {
  /** A lookup returns null, the model passes it on, and the next tool fails on it. */
  'null result': (episode: Episode): Truth => {
    const turn = indexOfRole(episode, 'identify')
    const read = callOf(episode, 'read')
    callOf(episode, 'identify').result = null
    const name = Object.keys(read.arguments)[0]!
    read.arguments[name] = null
    failAt(episode, 'read', `${name} cannot be null`)
    return { turn, call: 0 }
  },
  /** The model leaves an argument empty. */
  'empty argument': (episode: Episode): Truth => {
    const read = callOf(episode, 'read')
    const name = Object.keys(read.arguments)[0]!
    read.arguments[name] = ''
    failAt(episode, 'read', `${name} is required`)
    return { turn: indexOfRole(episode, 'read') }
  },
  /** The model calls with a placeholder. */
  placeholder: (episode: Episode, random: Random): Truth => {
    const read = callOf(episode, 'read')
    const name = Object.keys(read.arguments)[0]!
    read.arguments[name] = random.pick([`<${name}>`, `YOUR_${name.toUpperCase()}`, `{{${name}}}`])
    return excuseAt(episode, 'read', 'no such record', random)
  },
  /** The model makes up an id. */
  'invented id': (episode: Episode, random: Random): Truth => {
    const write = callOf(episode, 'write')
    const name = Object.keys(write.arguments)[0]!
    write.arguments[name] = `X${random.integer(100_000, 999_999)}`
    return excuseAt(episode, 'write', `${name} not found`, random)
  },
  /** The model calls a tool that it was not offered. */
  'unknown tool': (episode: Episode, random: Random): Truth => {
    const write = callOf(episode, 'write')
    write.tool = `${write.tool}_${random.pick(['now', 'v2', 'fast'])}`
    failAt(episode, 'write', `unknown tool ${write.tool}`)
    return { turn: indexOfRole(episode, 'write') }
  },
  /** The model writes a number as a word. */
  'wrong type': (episode: Episode, random: Random): Truth => {
    const write = callOf(episode, 'write')
    const name = Object.keys(write.arguments)[1]!
    write.arguments[name] = random.pick(['a few', 'all of it', 'the usual'])
    failAt(episode, 'write', `${name} must be a number`)
    return { turn: indexOfRole(episode, 'write') }
  },
  /** A tool breaks for reasons of its own. */
  'tool failure': (episode: Episode, random: Random): Truth => {
    const turn = indexOfRole(episode, 'write')
    failAt(
      episode,
      'write',
      random.pick(['socket hang up', 'disk I/O error', 'connection refused by 10.0.0.7:5432']),
    )
    return { turn, call: 0 }
  },
  /** A write fails, and the agent goes on as if it had worked. */
  'ignored error': (episode: Episode, random: Random): Truth => {
    const write = callOf(episode, 'write')
    write.error = random.pick(['gateway closed', 'quota used up', 'record is locked'])
    delete write.result
    const turn = indexOfRole(episode, 'write')
    const text = random.pick([
      'You are all set, have a wonderful day!',
      'Everything is taken care of. Anything else?',
      'There you go, all yours!',
    ])
    episode.turns = [...episode.turns.slice(0, turn + 1), { text }]
    return { turn: turn + 1 }
  },
  /** The same search again and again. */
  loop: (episode: Episode, random: Random): Truth => {
    const tool = episode.agent === 'order desk' ? 'search_help' : 'search_hotels'
    const query = random.sentence()
    const search = (): PlannedTurn => ({
      calls: [{ role: 'other', tool, arguments: { query }, result: { query, results: [] } }],
    })
    const turn = indexOfRole(episode, 'read') + 1
    const rounds = Array.from({ length: random.integer(3, 7) }, search)
    episode.turns = [
      ...episode.turns.slice(0, turn),
      ...rounds,
      { text: 'I am sorry, I could not finish this today.' },
    ]
    return { turn: turn + 1 }
  },
  /** The agent says that it did it, and did not. */
  'undone claim': (episode: Episode): Truth => {
    const turn = indexOfRole(episode, 'write')
    episode.turns = [...episode.turns.slice(0, turn), episode.turns.at(-1)!]
    return { turn }
  },
  /** Nothing was found, and the answer has figures. */
  'invented answer': (episode: Episode, random: Random): Truth => {
    const tool = episode.agent === 'order desk' ? 'search_help' : 'search_hotels'
    const query = random.sentence()
    episode.turns = [
      { calls: [{ role: 'other', tool, arguments: { query }, result: { query, results: [] } }] },
      {
        text: `The price is ${random.integer(100, 999)}.${random.integer(10, 99)} dollars, reference ${random.integer(10_000, 99_999)}.`,
      },
    ]
    return { turn: 1 }
  },
  /** The last reply is cut. */
  'cut reply': (episode: Episode): Truth => {
    const last = episode.turns.at(-1)!
    last.text = last.text!.slice(0, 40)
    last.finishReason = 'length'
    return { turn: episode.turns.length - 1 }
  },
  /** The write goes through, with the wrong amount. A session with the same request passed. */
  'wrong write': (episode: Episode, random: Random): Truth => {
    const write = callOf(episode, 'write')
    const name = Object.keys(write.arguments)[1]!
    write.arguments[name] = Number(write.arguments[name]) + random.integer(1, 50)
    return { turn: indexOfRole(episode, 'write') }
  },
} satisfies Record<string, (episode: Episode, random: Random) => Truth>

/** Faults that leave no trace in the session itself: it is known to have failed because somebody checked. */
export const checkedFaults: ReadonlySet<FaultName> = new Set(['wrong write'])

/** The last turn with a call for this, which is the one that worked. */
function indexOfRole({ turns }: Episode, role: PlannedCall['role']): number {
  return turns.findLastIndex(({ calls }) => calls?.[0]?.role === role)
}

function callOf(episode: Episode, role: PlannedCall['role']): PlannedCall {
  return episode.turns[indexOfRole(episode, role)]!.calls![0]!
}

/** The tool throws, and the agent ends with the error. */
function failAt(episode: Episode, role: PlannedCall['role'], error: string): void {
  const turn = indexOfRole(episode, role)
  const call = callOf(episode, role)
  delete call.result
  call.error = error
  call.isFatal = true
  episode.turns = episode.turns.slice(0, turn + 1)
}

/** The tool throws, the model is told, and says that it could not help. */
function excuseAt(episode: Episode, role: PlannedCall['role'], error: string, random: Random): Truth {
  failAt(episode, role, error)
  callOf(episode, role).isFatal = false
  episode.turns.push({
    text: random.pick(['I am sorry, I could not find it.', 'Unfortunately that did not work.']),
  })
  return { turn: indexOfRole(episode, role) }
}
