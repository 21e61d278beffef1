import { KnownError } from '../errors/known-error.ts'
import type { Attributes, Scope } from '@playhead/model'
import { MAX_ORIGIN_COPIES_BYTES } from './limits.ts'

type WithOrigin = { resource: Attributes; scope: Scope }

/**
 * What a request says once of many items is stored with each of them. A body of 2 MB could so ask for gigabytes: it is
 * refused before the first of them is made.
 */
export function refuseManyCopies(
  items: readonly WithOrigin[],
  textOf: (resource: Attributes) => string,
): void {
  let bytes = 0
  for (const { resource, scope } of items) {
    bytes += textOf(resource).length + scope.name.length + scope.version.length
    if (bytes <= MAX_ORIGIN_COPIES_BYTES) continue
    throw new KnownError(
      'BODY_TOO_LARGE',
      `The resource and scope are stored with each of the ${items.length} items, more than ${MAX_ORIGIN_COPIES_BYTES} bytes in all: send smaller batches, or shorter resources.`,
    )
  }
}
