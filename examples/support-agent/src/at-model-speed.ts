import type { ModelRequest, Reply, Rule } from '@playhead/scripted-model'

/** Milliseconds between streamed words: bursts with occasional pauses. */
const RHYTHM = [18, 22, 16, 40, 20, 24, 18, 110, 20, 16, 30, 22, 210] as const

/** Slows replies down to the speed of a real model. */
export function atModelSpeed(rule: Rule): Rule {
  return async (request) => {
    const reply = await rule(request)
    return reply === undefined ? undefined : takeTime(request, reply)
  }
}

function takeTime({ isStream, messages }: ModelRequest, reply: Reply): Reply {
  const full = typeof reply === 'string' ? { text: reply } : reply
  const asked = messages.reduce((length, { text }) => length + text.length, 0)
  const thinkingMs = 400 + Math.min(500, asked / 8)
  const writingMs = isStream ? 0 : 4 * (full.text ?? '').length
  return { delayMs: Math.round(thinkingMs + writingMs), chunkDelayMs: RHYTHM, ...full }
}
