const BLOCK = 512

/** Builds a tar file: for each entry a header and the content in whole blocks, then two empty blocks. */
export function makeTar(entries: { [name: string]: string }): Buffer {
  const parts = Object.entries(entries).map(([name, text]) => {
    const content = Buffer.from(text)
    const entry = Buffer.alloc(BLOCK + Math.ceil(content.length / BLOCK) * BLOCK)
    entry.write(name, 0)
    entry.write(content.length.toString(8).padStart(11, '0'), 124)
    entry.write('ustar', 257)
    content.copy(entry, BLOCK)
    return entry
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}
