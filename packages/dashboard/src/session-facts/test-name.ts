import type { TestIdentity } from '@playhead/model'

/** Identifies a test in an address; two files may have tests with the same name. */
export function testKey({ file = '', suite = '', name }: TestIdentity): string {
  return [file, suite, name].join('::')
}
