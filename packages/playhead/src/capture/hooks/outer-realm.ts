type OuterRealm = typeof globalThis & { [key: symbol]: (() => void) | undefined }

let found: OuterRealm | undefined

/**
 * The global object of the process. Test runners such as jest run files in a sandbox with a global object of its own, and
 * `fetch` still uses what is outside.
 */
export function outerRealm(): OuterRealm {
  try {
    found ??= process.getBuiltinModule('node:vm').runInThisContext('globalThis') as OuterRealm
  } catch {
    // Runtimes other than Node may have no such thing, and no sandboxes either.
    found = globalThis
  }
  return found
}
