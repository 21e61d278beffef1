import { connect, type Socket } from 'node:net'

/** Live viewers of a project that read everything, without parsing it. */
export class Viewers {
  readonly counts = { bytes: 0, viewers: 0, lost: 0 }
  readonly #sockets: Socket[]

  constructor({ url, connections }: { url: string; connections: number }) {
    const { hostname, port } = new URL(url)
    this.#sockets = Array.from({ length: connections }, () => {
      const socket = connect(Number(port), hostname, () =>
        socket.write('GET /api/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'),
      )
      let isViewing = false
      socket.on('data', (chunk) => {
        if (!isViewing) this.counts.viewers += 1
        isViewing = true
        this.counts.bytes += chunk.length
      })
      socket.on('error', () => (this.counts.lost += 1))
      return socket
    })
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
