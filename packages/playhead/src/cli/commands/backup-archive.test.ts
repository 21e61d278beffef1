import * as fastCheck from 'fast-check'
import { expect, test } from 'vitest'
import { TarCheck } from './backup-archive.ts'
import { makeTar } from '../test/make-tar.ts'

const backup = makeTar({ 'backup.json': 'head', 'steps/1': 'x'.repeat(1500), empty: '', 'end.json': 'end' })

function check(bytes: Uint8Array, cuts: readonly number[] = []): TarCheck {
  const tar = new TarCheck()
  let from = 0
  for (const cut of [...cuts].sort((left, right) => left - right)) {
    tar.add(bytes.subarray(from, cut))
    from = Math.max(from, cut)
  }
  tar.add(bytes.subarray(from))
  return tar
}

test('a whole archive is known by its last entry, however its bytes arrive', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.array(fastCheck.nat({ max: backup.length })), (cuts) => {
      const tar = check(backup, cuts)
      expect(tar.firstEntry).toBe('backup.json')
      expect(tar.endsWith('end.json')).toBe(true)
    }),
  )
})

test('an archive that is cut anywhere is not whole', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.nat({ max: backup.length - 2 * 512 }), (length) => {
      expect(check(backup.subarray(0, length)).endsWith('end.json')).toBe(false)
    }),
  )
})

test('an archive that ends with another entry is not whole', () => {
  expect(check(makeTar({ 'backup.json': '', 'end.json': '', more: '' })).endsWith('end.json')).toBe(false)
  expect(check(makeTar({})).firstEntry).toBeUndefined()
})
