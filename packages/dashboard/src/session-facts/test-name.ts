export type TestIdentity = { file?: string; suite?: string; name: string }

/** The test in an address: two files may have tests of the same name. */
export function testKey({ file = '', suite = '', name }: TestIdentity): string {
  return [file, suite, name].join('::')
}

/** As runners print it, and as the filter `test:` takes it. */
export function testTitle({ suite, name }: TestIdentity): string {
  return suite === undefined ? name : `${suite} > ${name}`
}
