/** Errors that a damaged file causes. Some have other causes too. */
const codes = new Set([
  '33', // CANNOT_READ_ALL_DATA
  '40', // CHECKSUM_DOESNT_MATCH
  '91', // SIZES_OF_MARKS_FILES_ARE_INCONSISTENT
  '107', // FILE_DOESNT_EXIST
  '226', // NO_FILE_IN_DATA_PART
  '228', // BAD_SIZE_OF_FILE_IN_DATA_PART
  '246', // CORRUPTED_DATA
])

/** Whether an error means that a part of a table is unreadable, as after a merge on a full disk. */
export function isDamage(message: string, code = /Code: (\d+)/.exec(message)?.[1]): boolean {
  return code !== undefined && codes.has(code) && message.includes('while reading from part')
}
