import { connect } from 'node:net'

/** Writes raw bytes to a server; returns everything that it sends until it closes the connection. */
export function sendRaw({ url }: { url: string }, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
