import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Calls `use` with the folder that was asked for, or with a temporary one that is removed afterwards. */
export async function withDataDirectory<Result>(
  asked: string | undefined,
  use: (directory: string) => Promise<Result>,
): Promise<Result> {
  if (asked !== undefined) {
    const directory = resolve(asked)
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
