import { crc32, deflateSync } from 'node:zlib'

const WIDTH = 120
const HEIGHT = 168
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Draws a small receipt as a PNG, with gray bars for text. */
export function drawReceipt(): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header[8] = 8
  const rows = Array.from({ length: HEIGHT }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: WIDTH }, (_, x) => shadeAt(x, y))]),
  )
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function shadeAt(x: number, y: number): number {
  const line = Math.floor(y / 12)
  if (x < 10 || x >= WIDTH - 10 || y % 12 > 4 || line === 0) return 250
  if (line === 1) return x > 30 && x < 90 ? 20 : 250
  if (line === 12) return x < 45 || x > 80 ? 20 : 250
  const end = 40 + ((line * 29) % 34)
  return x < end || x > 92 ? 130 : 250
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
