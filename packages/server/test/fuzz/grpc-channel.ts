import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import type { FuzzCase } from './fuzz-case.ts'

type GrpcReply = {
  status: number
  text: string
  bytes: Buffer
  contentType: string
  retryAfter: string | undefined
}

/** The HTTP status that means the same; an unknown one is as wrong as a 500. */
const statuses: Readonly<Record<string, number>> = {
  0: 200,
  3: 400,
  5: 404,
  7: 403,
  9: 409,
  12: 415,
  14: 503,
  16: 401,
}

/** Sends the raw bytes of gRPC calls, valid or not, over one connection. */
export class GrpcChannel {
  readonly #address: string
  #session: ClientHttp2Session | undefined

  constructor(address: string) {
    this.#address = address
  }

  close(): void {
    this.#session?.destroy()
  }

  send({
    path,
    headers,
    body,
    pieces = 1,
  }: Pick<FuzzCase, 'path' | 'headers' | 'body' | 'pieces'>): Promise<GrpcReply> {
    return new Promise((resolve, reject) => {
      const stream = this.#connection().request({
        ':method': 'POST',
        ':path': path,
        te: 'trailers',
        ...headers,
      })
      let answer: IncomingHttpHeaders = {}
      const chunks: Buffer[] = []
      stream.on('response', (head) => (answer = head))
      stream.on('trailers', (trailers) => (answer = { ...answer, ...trailers }))
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', reject)
      stream.on('close', () => {
        if (answer[':status'] === undefined) reject(new Error('the call was reset without a response'))
        else resolve(toReply(answer, Buffer.concat(chunks)))
      })
      const size = Math.max(1, Math.ceil(body.length / pieces))
      for (let at = 0; at < body.length; at += size) stream.write(body.subarray(at, at + size))
      stream.end()
    })
  }

  #connection(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(`http://${this.#address}`)
      this.#session.on('error', () => {})
    }
    return this.#session
  }
}

function toReply(headers: IncomingHttpHeaders, frame: Buffer): GrpcReply {
  const code = String(headers['grpc-status'])
  const status = Number(headers[':status']) === 200 ? (statuses[code] ?? 500) : Number(headers[':status'])
  const isWhole = status !== 200 || (frame.length >= 5 && frame.readUInt32BE(1) === frame.length - 5)
  return {
    status: isWhole ? status : 500,
    text: `grpc-status ${code}: ${String(headers['grpc-message'])}`,
    bytes: frame.subarray(5),
    contentType: 'application/x-protobuf',
    retryAfter: status === 503 ? '1' : undefined,
  }
}
