import { expect, test } from 'vitest'
import { LoginLimiter, MAX_FAILURES_PER_MINUTE } from './login-limiter.ts'

function isAllowed(limiter: LoginLimiter, address: string, nowMs: number): boolean {
  try {
    limiter.check(address, nowMs)
    return true
  } catch {
    return false
  }
}

test('an address that keeps guessing waits longer and longer; others do not wait', () => {
  const limiter = new LoginLimiter()
  const waits: number[] = []
  let nowMs = 0
  for (let attempt = 0; attempt < 12; attempt++) {
    const startedAtMs = nowMs
    while (!isAllowed(limiter, 'guesser', nowMs)) nowMs += 1_000
    waits.push((nowMs - startedAtMs) / 1_000)
    limiter.noteFailure('guesser', nowMs)
    expect(isAllowed(limiter, 'owner', nowMs)).toBe(true)
  }
  expect(waits).toEqual([0, 0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60])
})

test('the refusal says how long, and how the owner gets in', () => {
  const limiter = new LoginLimiter()
  for (let attempt = 0; attempt < 5; attempt++) limiter.noteFailure('10.0.0.1', 0)
  expect(() => limiter.check('10.0.0.1', 500)).toThrow(
    expect.objectContaining({
      code: 'TOO_MANY_LOGINS',
      retryAfterSeconds: 2,
      message:
        'Too many wrong passwords from 10.0.0.1. Wait 2 seconds. If you own this server, get a link that logs you in: run "playhead login-link" on its machine.',
    }),
  )
})

test('an address is forgiven after a success, and after a quarter of an hour', () => {
  const limiter = new LoginLimiter()
  for (const address of ['a', 'b'])
    for (let attempt = 0; attempt < 8; attempt++) limiter.noteFailure(address, 0)
  limiter.noteSuccess('a')
  expect([isAllowed(limiter, 'a', 0), isAllowed(limiter, 'b', 0)]).toEqual([true, false])
  limiter.noteFailure('c', 16 * 60_000)
  limiter.noteFailure('b', 16 * 60_000)
  expect(isAllowed(limiter, 'b', 16 * 60_000)).toBe(true)
})

test('many addresses together reach a ceiling, for a minute', () => {
  const limiter = new LoginLimiter()
  for (let address = 0; address < MAX_FAILURES_PER_MINUTE; address++)
    limiter.noteFailure(`10.0.0.${address}`, address)
  expect(isAllowed(limiter, 'owner', 59_999)).toBe(false)
  expect(isAllowed(limiter, 'owner', 60_000)).toBe(true)
})
