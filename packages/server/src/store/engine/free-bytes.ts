import { statfs } from 'node:fs/promises'

/** Free bytes on the disk that holds a folder; undefined where the file system does not report them. */
export async function freeBytesOf(folder: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? undefined : bavail * bsize
}
