import * as fastCheck from 'fast-check'
import { expect, test } from 'vitest'
import { makeTar } from '../test/make-tar.ts'
import { BackupArchive } from './backup-archive.ts'

const backup = makeTar({ 'backup.json': 'head', 'steps/1': 'x'.repeat(1500), empty: '', 'end.json': 'end' })

function check(bytes: Uint8Array, cuts: readonly number[] = []): BackupArchive {
  const archive = new BackupArchive()
  let from = 0
  for (const cut of [...cuts].sort((left, right) => left - right)) {
    archive.add(bytes.subarray(from, cut))
    from = Math.max(from, cut)
  }
  archive.add(bytes.subarray(from))
  return archive
}

test('recognizes a complete backup however its bytes are split', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.array(fastCheck.nat({ max: backup.length })), (cuts) => {
      const archive = check(backup, cuts)
      expect(archive.isBackup).toBe(true)
      expect(archive.isComplete).toBe(true)
    }),
  )
})

test('a backup truncated anywhere is incomplete', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.nat({ max: backup.length - 2 * 512 }), (length) => {
      expect(check(backup.subarray(0, length)).isComplete).toBe(false)
    }),
  )
})

test('an archive that ends with another entry is incomplete, and an empty one is no backup', () => {
  expect(check(makeTar({ 'backup.json': '', 'end.json': '', more: '' })).isComplete).toBe(false)
  expect(check(makeTar({})).isBackup).toBe(false)
})
