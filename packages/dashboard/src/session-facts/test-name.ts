import type { TestIdentity } from '@playhead/model'

/** The test in an address: two files may have tests of the same name. */
export function testKey({ file = '', suite = '', name }: TestIdentity): string {
  return [file, suite, name].join('::')
}
