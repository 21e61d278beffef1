// Preloaded into a server: shifts its clock by the offset in a file, which may change at any time.
import { readFileSync } from 'node:fs'

const RealDate = Date
const file = process.env.PLAYHEAD_TEST_CLOCK
let offsetMs = 0

function readOffset() {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offsetMs = 0
  }
}

if (file !== undefined) {
  readOffset()
  setInterval(readOffset, 200).unref()
  globalThis.Date = class extends RealDate {
    constructor(...values) {
      if (values.length === 0) super(RealDate.now() + offsetMs)
      else super(...values)
    }
    static now() {
      return RealDate.now() + offsetMs
    }
  }
}
