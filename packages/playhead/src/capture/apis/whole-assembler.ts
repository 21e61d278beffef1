import type { JsonObject } from '../json-value.ts'
import type { Assembler } from './model-api.ts'

/** For APIs that do not stream: the last event is the answer. */
export function wholeAssembler(): Assembler {
  let last: JsonObject = {}
  return {
    add(event) {
      last = event
      return { isToken: false, isLast: false }
    },
    whole: () => last,
  }
}
