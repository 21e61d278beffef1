import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Calls `use` with the requested folder, or with a temporary one that is removed afterwards. */
export async function withDataDirectory<Result>(
  requested: string | undefined,
  use: (directory: string) => Promise<Result>,
): Promise<Result> {
  if (requested !== undefined) {
    const directory = resolve(requested)
    await mkdir(directory, { recursive: true })
    return use(directory)
  }
  const directory = await mkdtemp(join(tmpdir(), 'playhead-bench-'))
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
