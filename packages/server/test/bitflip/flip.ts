import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export type Flip = { file: string; at: number; bit: number }

/** What a flipped bit did, judged by comparing everything that is returned with what was acknowledged. */
export type Outcome = 'same' | 'same, reported' | 'lost, reported' | 'silently lost' | 'altered' | 'no start'

/** Called after every flip; `reason` says why nothing could be opened. */
export type OnOutcome = (flip: Flip, outcome: Outcome, reason?: string) => void

export type Observed = { lost: number; altered: number; isReported: boolean }

export function judge({ lost, altered, isReported }: Observed): Outcome {
  if (altered > 0) return 'altered'
  if (lost > 0) return isReported ? 'lost, reported' : 'silently lost'
  return isReported ? 'same, reported' : 'same'
}

export const isViolation = (outcome: Outcome) => outcome === 'altered' || outcome === 'silently lost'

/** The files below a folder that are not empty. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size > 0)
    .sort()
}

/** A random bit: of any byte of all files, or of any file. Small files matter as much as large ones. */
export function chooseFlip(files: readonly string[], random: () => number): Flip {
  const sizes = files.map((file) => statSync(file).size)
  let file = files[Math.floor(random() * files.length)]!
  if (random() < 0.5) {
    let place = random() * sizes.reduce((sum, size) => sum + size, 0)
    file = files[sizes.findIndex((size) => (place -= size) < 0)] ?? file
  }
  return { file, at: Math.floor(random() * statSync(file).size), bit: Math.floor(random() * 8) }
}

/** Flipping the same bit again repairs it. */
export function flipBit({ file, at, bit }: Flip): void {
  const descriptor = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, at)
  byte[0]! ^= 1 << bit
  writeSync(descriptor, byte, 0, 1, at)
  closeSync(descriptor)
}
